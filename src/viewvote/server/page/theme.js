// Before anything is painted: the theme chosen earlier, if any. Otherwise the system's holds.
try {
  const theme = localStorage.getItem("viewvote-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // No storage, no memory.
}
