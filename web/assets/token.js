// The bearer token of whoever uses the page, where the service asks for one.

import { el } from './dom.js';

// The token is kept until the tab is closed, and no other site can read it.
const key = 'poolwright-token';

export const token = () => sessionStorage.getItem(key);

let asking = null;
let declined = false;

// askForToken asks for a token, once for all requests that were refused at a time, and says whether
// there is one now. Whoever declines is not asked again before the page is loaded anew.
export async function askForToken() {
  if (declined) return false;
  asking ??= answered().finally(() => { asking = null; });
  declined = !(await asking);
  return !declined;
}

function answered() {
  const wrong = token() !== null;
  const input = el('input', { id: 'token', type: 'password', autocomplete: 'off', required: true, 'aria-describedby': 'token-why' });
  const dialog = el(
    'dialog',
    { 'aria-labelledby': 'token-title' },
    el(
      'form',
      { method: 'dialog' },
      el('h2', { id: 'token-title' }, 'Who is asking?'),
      el('p', { id: 'token-why' }, wrong ? 'The service does not know this token, or no longer.' : 'The service asks for a bearer token. It is kept until this tab is closed.'),
      el('label', { for: 'token' }, 'Token'),
      input,
      el('button', { type: 'submit' }, 'Continue'),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const given = input.value.trim();
      dialog.remove();
      if (given) sessionStorage.setItem(key, given);
      else sessionStorage.removeItem(key);
      resolve(given !== '');
    });
  });
}
