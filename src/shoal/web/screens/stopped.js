// Takes the data off the screen when the server has stopped.
(() => {
  const words = "Shoal has stopped. This page no longer shows your data; you can close it.";
  let failures = 0;
  const timer = setInterval(async () => {
    if (!window.socket || window.socket.connected) {
      failures = 0;
      return;
    }
    try {
      await fetch("/favicon.ico", { cache: "no-store" });
      failures = 0;
    } catch {
      failures += 1;
    }
    if (failures < 2) return;
    clearInterval(timer);
    window.socket.disconnect();
    const message = document.createElement("p");
    message.setAttribute("role", "alert");
    message.style.cssText = "font: 1rem system-ui; max-width: 36rem; margin: 4rem auto";
    message.textContent = words;
    document.body.replaceChildren(message);
    document.title = "Shoal";
  }, 1000);
})();
