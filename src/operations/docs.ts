/** The documentation page: Scalar over /openapi.json, with every asset served from here. */

export interface Docs {
  readonly page: string;
  readonly contentSecurityPolicy: string;
  /** Scalar's browser bundle; read when it is first asked for. */
  script(): Promise<string>;
}

/** Nothing that leads away from this service: no fonts, proxies, accounts or assistants of others. */
const configuration = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
};

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Catalog API</title>
</head>
<body>
<script id="api-reference" data-url="/openapi.json" data-configuration='${JSON.stringify(configuration)}'></script>
<script src="/docs/scalar.js"></script>
</body>
</html>
`;

export function createDocs(): Docs {
  let script: Promise<string> | undefined;
  return {
    page,
    // Scalar styles itself at run time and compiles templates; it may talk to this service and no other.
    contentSecurityPolicy:
      "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src blob:; frame-ancestors 'none'; base-uri 'none'",
    script() {
      script ??= readScript();
      return script;
    },
  };
}

interface RouteOptions {
  readonly url: string;
  readonly handler: (request: unknown, reply: unknown) => unknown;
}

/**
 * Of Scalar's packages the one for Fastify carries the browser bundle without a build of its own. It is
 * registered here on a host that only remembers the route of the script, which then is asked for its text.
 */
async function readScript(): Promise<string> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const routes: RouteOptions[] = [];
  const host = {
    hasPlugin: () => false,
    addHook: () => undefined,
    log: { warn: () => undefined },
    route: (options: RouteOptions) => routes.push(options),
  };
  const registered = Promise.withResolvers<void>();
  // Boundary: the plugin is typed for all of Fastify, of which it calls the members above.
  const register = plugin as unknown as (host: object, options: object, done: () => void) => unknown;
  register(host, { routePrefix: '/docs', configuration: { url: '/openapi.json' } }, registered.resolve);
  await registered.promise;
  const route = routes.find(({ url }) => url.endsWith('.js'));
  if (route === undefined) throw new Error('Scalar registered no script');
  const reply = { header: () => reply, type: () => reply, send: (body: unknown) => body };
  return String(await route.handler({}, reply));
}
