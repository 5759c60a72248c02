/** The page that the service's address shows in a browser: what the service is, further reading, first steps. */
import { buildHtmlPage, type Page } from './page.ts';

export interface IndexPageOptions {
  /** The address of the service, taken from the request, without a trailing slash. */
  readonly base: string;
  /** The program's release. */
  readonly release: string;
  /** The current version of the interface: `v1`. */
  readonly version: string;
}

/** The links are relative, so that they also work behind a proxy that adds a path prefix. */
export function buildIndexPage({ base, release, version }: IndexPageOptions): Page {
  const [address, current] = [Bun.escapeHTML(base), Bun.escapeHTML(version)];
  return buildHtmlPage({
    title: 'Catalog',
    body: `<p class="lead">Products, orders, invoices, accounts and search, as JSON over HTTP.</p>
<p class="quiet">Release ${Bun.escapeHTML(release)} is running at ${address}.</p>
<ul class="cards">
<li><a href="docs"><b>Documentation</b> Every operation, to read about and try in the browser</a></li>
<li><a href="openapi.json"><b>openapi.json</b> The API description, for client generators and other tools</a></li>
<li><a href="password-reset"><b>New password</b> For users who have forgotten their password</a></li>
</ul>
<h2>First steps</h2>
<p>Sign in with the e-mail address and password of your account. Those of the first administrator were printed when the
service started for the first time.</p>
<pre tabindex="0"><code>TOKEN=$(curl -sSf ${address}/${current}/auth/login \\
  -H 'Content-Type: application/json' \\
  -d '{"email":"<em>e-mail</em>","password":"<em>password</em>"}' \\
  | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')</code></pre>
<p>Then list products:</p>
<pre tabindex="0"><code>curl -s "${address}/${current}/products?perPage=3" \\
  -H "Authorization: Bearer $TOKEN"</code></pre>
<p>Programs use an API key instead of a password: an administrator creates one with <code>POST /${current}/keys</code>, or
on the machine with <code>npm run catalog -- keys create</code>.</p>
<h2>For operators</h2>
<ul class="cards">
<li><a href="health"><b>Health</b> The process is alive</a></li>
<li><a href="ready"><b>Readiness</b> The database responds, too</a></li>
<li><a href="metrics"><b>Metrics</b> For Prometheus</a></li>
</ul>`,
  });
}
