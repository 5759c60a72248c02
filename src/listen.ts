/** Binds the server to its address and port. */
import { type App, idleTimeout } from './app.ts';
import { type Config, ConfigError } from './config.ts';
import { getErrorCode, getErrorMessage } from './error-text.ts';

/** @throws ConfigError when the server cannot listen on the address */
export function listen(app: App, config: Config) {
  try {
    return bind(app, config);
  } catch (error) {
    const { HOST, PORT } = config;
    const code = getErrorCode(error);
    if (!canListenOn(HOST)) {
      throw new ConfigError(
        `HOST: ${HOST} is neither an address of this machine nor a name of one; use 0.0.0.0 for all addresses`,
      );
    }
    if (code === 'EADDRINUSE') {
      throw new ConfigError(
        `PORT: ${HOST}:${PORT} is in use; stop the program that listens there, or choose another port`,
      );
    }
    if (code === 'EACCES') {
      throw new ConfigError(
        `PORT: this process is not permitted to listen on ${HOST}:${PORT}; choose a port of 1024 or more, or permit it`,
      );
    }
    throw new ConfigError(`HOST: cannot listen on ${HOST}:${PORT}: ${getErrorMessage(error)}`);
  }
}

/** Tries another port, since Bun reports an address of another machine and a port in use by the same error. */
function canListenOn(hostname: string): boolean {
  try {
    void Bun.serve({ hostname, port: 0, fetch: () => new Response() }).stop(true);
    return true;
  } catch {
    return false;
  }
}

function bind(app: App, config: Config) {
  return Bun.serve({
    port: config.PORT,
    hostname: config.HOST,
    idleTimeout,
    // Bun's own 413 has no body; request/body.ts enforces BODY_LIMIT and sends one.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    routes: app.routes,
    fetch: app.fallback,
    // Nothing inside throws past `serve`; if Bun itself fails, the response still has the service's format.
    error: () =>
      Response.json(
        { error: 'INTERNAL_ERROR', message: 'The service failed.', requestId: crypto.randomUUID() },
        { status: 500 },
      ),
  });
}
