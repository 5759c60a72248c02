/**
 * Three small pages that mails link to, for shops without pages of their own: a new password, a confirmed address, and
 * the way back to a former address. They load nothing, and send the token only when the user clicks: programs that
 * follow links in mails use up no token.
 */
import { buildHtmlPage, type Page } from './page.ts';

export interface AccountPage {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly page: Page;
}

/**
 * The token is removed from the address at once, since histories and screens show addresses. It is kept as the state of
 * this entry of the browser's history, which survives a reload; so is the text after a success. Addresses are relative,
 * so that they also work behind a proxy that adds a path prefix.
 */
const script = `
const [form, other] = document.forms;
const output = document.querySelector('output');
const next = document.querySelector('#next');
const sent = new URLSearchParams(location.search).get('token');
if (sent) history.replaceState({ token: sent }, '', location.pathname);
const { token = '', done = '' } = history.state ?? {};

function finish(text) {
  for (const each of document.forms) each.hidden = true;
  output.textContent = text;
  next.hidden = false;
}
function offerOther(text) {
  form.hidden = true;
  if (other) other.hidden = false;
  output.textContent = text;
  next.hidden = false;
}
async function send(each, button) {
  const fields = Object.fromEntries(new FormData(each));
  const response = await fetch(each.dataset.action, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(each === form ? { ...fields, token } : fields),
  });
  if (response.ok) {
    history.replaceState({ done: each.dataset.done }, '', location.pathname);
    return finish(each.dataset.done);
  }
  const problem = await response.json();
  button.disabled = false;
  if (problem.error === 'INVALID_TOKEN') offerOther(problem.message);
  else output.textContent = problem.message;
}
for (const each of document.forms) {
  each.addEventListener('submit', event => {
    event.preventDefault();
    const button = each.querySelector('button');
    button.disabled = true;
    send(each, button).catch(() => {
      button.disabled = false;
      output.textContent = 'The service cannot be reached; try again.';
    });
  });
}
if (done) finish(done);
else if (token === '') offerOther('Open this page with the link in your mail.');
`;

export function createAccountPages(): readonly AccountPage[] {
  return [
    {
      path: '/password-reset',
      operationId: 'getPasswordResetPage',
      summary: 'Show the page to set a new password',
      page: buildPage(
        'Set a new password',
        `<form data-action="v1/auth/password-reset" data-done="Your password is set. You can now sign in with it.">
<label>New password, 10 characters or more
<input type="password" name="password" autocomplete="new-password" minlength="10" maxlength="200" required></label>
<button>Set password</button>
</form>
${buildNewLinkForm('Your e-mail address, for a new link')}`,
      ),
    },
    {
      path: '/verify',
      operationId: 'getVerifyPage',
      summary: 'Show the page to confirm an e-mail address',
      page: buildPage(
        'Confirm your e-mail address',
        `<form data-action="v1/auth/verify" data-done="Thank you: your address is confirmed.">
<button>Confirm</button>
</form>
${buildNewLinkForm('Your e-mail address, for a link that sets a password and confirms the address')}`,
      ),
    },
    {
      path: '/restore-address',
      operationId: 'getRestoreAddressPage',
      summary: 'Show the page to recover an account',
      page: buildPage(
        'Take your account back',
        `<form data-action="v1/auth/restore-address" data-done="Your address is restored and all sessions have ended. Sign in with your new password.">
<p>This restores your former e-mail address, ends all sessions and sets a new password.</p>
<label>New password, 10 characters or more
<input type="password" name="password" autocomplete="new-password" minlength="10" maxlength="200" required></label>
<button>Take it back</button>
</form>`,
      ),
    },
  ];
}

/** Shown when the link in the mail is no longer valid. */
const buildNewLinkForm = (label: string): string =>
  `<form data-action="v1/auth/forgot-password" data-done="If there is an account with this address, a mail with a link is on its way." hidden>
<label>${label}
<input type="email" name="email" autocomplete="email" maxlength="254" required></label>
<button>Send me a link</button>
</form>`;

function buildPage(title: string, forms: string): Page {
  return buildHtmlPage({
    title,
    body: `${forms}
<output role="status"></output>
<p id="next" hidden><a href="./">Go to the start page</a></p>
<noscript>This page needs JavaScript.</noscript>`,
    script,
    narrow: true,
  });
}
