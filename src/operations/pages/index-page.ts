/** What a person sees who opens the service's address in a browser: what it is, where to read on, first steps. */
import { escapeHtml, htmlPage, type Page } from './page.ts';

export interface IndexPageOptions {
  /** The address of the service as the request has it, without a slash at its end. */
  readonly base: string;
  /** The program's release. */
  readonly release: string;
  /** The current version of the interface: `v1`. */
  readonly version: string;
}

/** The links are relative, so that they are right behind a proxy that adds to the path. */
export function indexPage({ base, release, version }: IndexPageOptions): Page {
  const [address, current] = [escapeHtml(base), escapeHtml(version)];
  return htmlPage({
    title: 'Catalog',
    body: `<p>This is a product catalog for programs: products, orders, invoices, accounts and search over HTTP, in JSON.
It runs, release ${escapeHtml(release)}.</p>
<ul>
<li><a href="docs">Documentation</a>: every operation, to read and to try</li>
<li><a href="openapi.json">openapi.json</a>: the same for machines, such as generators of clients</li>
<li><a href="password-reset">A new password</a>, if you have an account and have forgotten yours</li>
</ul>
<h2>First steps</h2>
<p>Sign in with the e-mail address and password of your account. The administrator’s were printed when the service was
started for the first time.</p>
<pre tabindex="0"><code>TOKEN=$(curl -s ${address}/${current}/auth/login \\
  -H 'Content-Type: application/json' \\
  -d '{"email":"<em>e-mail</em>","password":"<em>password</em>"}' \\
  | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')</code></pre>
<p>Then list products:</p>
<pre tabindex="0"><code>curl -s "${address}/${current}/products?perPage=3" \\
  -H "Authorization: Bearer $TOKEN"</code></pre>
<p>Programs use an API key in place of a password: an administrator makes one with
<code>POST /${current}/keys</code>, or with <code>catalog keys create</code> on the machine.</p>
<h2>For those who run it</h2>
<ul>
<li><a href="health">health</a>: the process is alive</li>
<li><a href="ready">ready</a>: the database answers too</li>
<li><a href="metrics">metrics</a>, for Prometheus</li>
</ul>`,
  });
}
