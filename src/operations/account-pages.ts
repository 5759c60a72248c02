/**
 * Two small pages that mails link to, for shops without pages of their own: a new password, and a confirmed
 * address. They load nothing, and send the token on only when a person asks for it: programs that look at the
 * links of mails use up none.
 */

export interface AccountPage {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly page: string;
  readonly contentSecurityPolicy: string;
}

const style = `
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem; }
input, button { font: inherit; display: block; width: 100%; box-sizing: border-box; margin: .5rem 0; padding: .5rem; }
`;

/** The action's address is relative, so that it is right behind a proxy that adds to the path. */
const script = `
const form = document.querySelector('form');
const told = document.querySelector('output');
const token = new URLSearchParams(location.search).get('token') ?? '';
history.replaceState(null, '', location.pathname);
form.addEventListener('submit', async event => {
  event.preventDefault();
  const button = form.querySelector('button');
  button.disabled = true;
  try {
    const answer = await fetch(form.dataset.action, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({ ...Object.fromEntries(new FormData(form)), token }),
    });
    if (answer.ok) { form.hidden = true; told.textContent = form.dataset.done; return; }
    told.textContent = (await answer.json()).message;
  } catch { told.textContent = 'The service cannot be reached; try again.'; }
  button.disabled = false;
});
`;

const hashOf = (text: string) => `'sha256-${new Bun.CryptoHasher('sha256').update(text).digest('base64')}'`;
const contentSecurityPolicy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`;

export function accountPages(): readonly AccountPage[] {
  const password = `<label>New password, 10 characters or more
<input type="password" name="password" autocomplete="new-password" minlength="10" maxlength="200" required autofocus></label>
<button>Set password</button>`;
  return [
    {
      path: '/password-reset',
      operationId: 'getPasswordResetPage',
      summary: 'A page to set a new password',
      page: pageOf(
        'Set a new password',
        'v1/auth/password-reset',
        password,
        'Your password is set: sign in with it.',
      ),
      contentSecurityPolicy,
    },
    {
      path: '/verify',
      operationId: 'getVerifyPage',
      summary: 'A page to confirm an e-mail address',
      page: pageOf(
        'Confirm your e-mail address',
        'v1/auth/verify',
        '<button>Confirm</button>',
        'Thank you: your address is confirmed.',
      ),
      contentSecurityPolicy,
    },
  ];
}

function pageOf(title: string, action: string, fields: string, done: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
<form data-action="${action}" data-done="${done}">
${fields}
</form>
<output role="status"></output>
<noscript>This page needs JavaScript.</noscript>
<script>${script}</script>
</body>
</html>
`;
}
