// Runs before the page is drawn, so that a dark page never flashes light: puts the chosen theme on the root element. Without
// a choice the system's holds.
"use strict";
{
  let kept = null;
  try {
    kept = localStorage.getItem("nmt.theme");
  } catch {
    // A browser may refuse storage: then the system's theme it is.
  }
  for (const theme of ["light", "dark"])
    if (kept === JSON.stringify(theme)) document.documentElement.dataset.theme = theme;
}
