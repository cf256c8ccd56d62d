// Names the language of the page, and lets the keyboard scroll every table.
document.documentElement.lang = "en";
(() => {
  const reach = () => {
    for (const area of document.querySelectorAll(".q-table__middle:not([tabindex])")) {
      const table = area.closest(".q-table__container");
      area.tabIndex = 0;
      area.setAttribute("role", "region");
      area.setAttribute("aria-label", (table && table.getAttribute("aria-label")) || "Table");
    }
  };
  new MutationObserver(reach).observe(document.documentElement, { childList: true, subtree: true });
  reach();
})();
