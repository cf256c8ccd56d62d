// Many points of a chart: numbers that arrive as base64 text, and the names of their combinations.
window.shoalPoints = (text) =>
  new Float32Array(Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)).buffer);
window.shoalLevels = (sizes) => (point) => {
  const levels = [];
  let number = point.value[2];
  for (const size of [...sizes].reverse()) {
    levels.unshift(number % size);
    number = Math.floor(number / size);
  }
  return levels.join(" · ");
};
