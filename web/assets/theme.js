// Applies the chosen theme before the page is drawn, and changes it. Without a choice the
// page follows the system.
'use strict';
(() => {
  const root = document.documentElement;
  const key = 'poolwright.theme';
  const stored = () => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // storage is forbidden
    }
  };
  const apply = (theme) => {
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  apply(stored());
  document.addEventListener('DOMContentLoaded', () => {
    const select = document.getElementById('theme');
    select.value = root.dataset.theme ?? 'system';
    select.addEventListener('change', () => {
      apply(select.value);
      try {
        localStorage.setItem(key, select.value);
      } catch {
        // It holds for this page only.
      }
      document.dispatchEvent(new Event('themechange'));
    });
  });
})();
