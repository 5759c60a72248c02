/** Endpoints by path and method, in the form that Bun's own router takes. */
import type { Endpoint, Method } from './endpoint.ts';
import { HttpError } from './errors.ts';
import type { Version } from './lifecycle.ts';

export interface Route {
  /** As in the OpenAPI document: `/v1/products/{id}`. */
  readonly path: string;
  readonly version: Version | undefined;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** The value of Allow. */
  readonly allow: string;
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** @throws Error when two endpoints claim one method of one path: a mistake in the program */
export function routesOf(endpoints: readonly Endpoint[], version: Version | undefined): Route[] {
  const prefix = version === undefined ? '' : `/${version.name}`;
  const byPath = new Map<string, Map<string, Endpoint>>();
  for (const endpoint of endpoints) {
    const path = `${prefix}${endpoint.path}`;
    const byMethod = byPath.get(path) ?? new Map<string, Endpoint>();
    if (byMethod.has(endpoint.method)) throw new Error(`${endpoint.method} ${path} is declared twice`);
    byMethod.set(endpoint.method, endpoint);
    byPath.set(path, byMethod);
  }
  return [...byPath].map(([path, byMethod]) => ({
    path,
    version,
    endpoints: byMethod,
    allow: allowOf(byMethod),
  }));
}

function allowOf(byMethod: ReadonlyMap<string, Endpoint>): string {
  const own = methods.filter(method => byMethod.has(method));
  return [...own, ...(byMethod.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

/** The path of the route for all paths that no endpoint has. */
export const unknownPath = '(unknown)';

/** `/v1/products/{id}` → `/v1/products/:id` */
export function bunPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/**
 * The endpoint for a request; HEAD is answered by GET (RFC 9110 §9.3.2).
 * @throws HttpError 404 for an unknown path, 405 with Allow for a known one
 */
export function pick(route: Route | undefined, method: string): Endpoint {
  if (route === undefined || route.endpoints.size === 0) throw new HttpError('NOT_FOUND');
  const endpoint = route.endpoints.get(method === 'HEAD' ? 'GET' : method);
  if (endpoint === undefined) throw new HttpError('METHOD_NOT_ALLOWED', { headers: { Allow: route.allow } });
  return endpoint;
}
