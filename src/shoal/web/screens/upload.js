// Sends a chosen or dropped file to the server of this page, which stores it in a private folder.
(() => {
  if (window.shoalUpload) return;
  window.shoalUpload = true;
  const send = (file) => {
    const status = document.getElementById("shoal-upload");
    const request = new XMLHttpRequest();
    request.open("PUT", "/upload");
    request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
    const say = (words) => { if (status) status.textContent = words; };
    request.upload.onprogress = (event) => {
      const share = event.lengthComputable ? Math.round((100 * event.loaded) / event.total) : 0;
      say(`${status ? status.dataset.working : ""} ${share} %`);
    };
    request.onload = () => {
      if (request.status >= 300) say(request.responseText || (status && status.dataset.failed) || "");
    };
    request.onerror = () => say((status && status.dataset.failed) || "");
    request.send(file);
  };
  document.addEventListener("change", (event) => {
    if (event.target.id === "shoal-file" && event.target.files.length) send(event.target.files[0]);
  });
  document.addEventListener("dragover", (event) => {
    if (event.target.closest && event.target.closest(".s-drop")) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    const zone = event.target.closest && event.target.closest(".s-drop");
    if (zone && event.dataTransfer.files.length) {
      event.preventDefault();
      send(event.dataTransfer.files[0]);
    }
  });
})();
