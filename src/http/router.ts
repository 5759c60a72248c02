/** Endpoints by path and method, in the form that Bun's router takes. */
import { type Endpoint, getOfferedTypes, type Method } from './endpoint.ts';
import { HttpError } from './errors.ts';
import { json, toVendorType } from './negotiate.ts';
import type { Version } from './versions/lifecycle.ts';

/** An endpoint at one address; several versions may share the endpoint. */
export interface Operation {
  readonly endpoint: Endpoint;
  /** The media types of its success here, preferred first. */
  readonly offered: readonly string[];
}

export interface Route {
  /** As in the OpenAPI document: `/v1/products/{id}`. */
  readonly path: string;
  readonly version: Version | undefined;
  /** By method. */
  readonly operations: ReadonlyMap<string, Operation>;
  /** The value of Allow. */
  readonly allow: string;
  /** Whether its requests are served before queued ones. */
  readonly bypassesQueue: boolean;
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** @throws Error when two endpoints claim one method of one path: a mistake in the program */
export function createRoutes(endpoints: readonly Endpoint[], version: Version | undefined): Route[] {
  const prefix = version === undefined ? '' : `/${version.name}`;
  const usual = version === undefined ? [json] : [json, toVendorType(version.name)];
  const byPath = new Map<string, Map<string, Operation>>();
  for (const endpoint of endpoints) {
    const path = `${prefix}${endpoint.path}`;
    const byMethod = byPath.getOrInsertComputed(path, () => new Map<string, Operation>());
    if (byMethod.has(endpoint.method)) throw new Error(`${endpoint.method} ${path} is declared twice`);
    byMethod.set(endpoint.method, { endpoint, offered: getOfferedTypes(endpoint, usual) });
  }
  return [...byPath].map(([path, byMethod]) => ({
    path,
    version,
    operations: byMethod,
    allow: formatAllow(byMethod),
    bypassesQueue: [...byMethod.values()].every(({ endpoint }) => endpoint.bypassesQueue === true),
  }));
}

function formatAllow(byMethod: ReadonlyMap<string, unknown>): string {
  const own = methods.filter(method => byMethod.has(method));
  return [...own, ...(byMethod.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

/** The path in the metrics of all requests without an endpoint. */
export const unknownPath = '(unknown)';

/** The route for all paths below a version's prefix that have no endpoint. */
export function createUnknownRoute(version: Version): Route {
  return { path: unknownPath, version, operations: new Map(), allow: '', bypassesQueue: false };
}

/** `/v1/products/{id}` → `/v1/products/:id` */
export function toBunPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** The prefix of the version is what a new client most often lacks. */
const outsideVersions = 'There is nothing at this address; GET / links to the versions and what they offer.';

/**
 * The operation for a request; GET also serves HEAD (RFC 9110 §9.3.2).
 * @throws HttpError 404 for an unknown path, 405 with Allow for a known one
 */
export function pick(route: Route | undefined, method: string): Operation {
  if (route === undefined) throw new HttpError('NOT_FOUND', { message: outsideVersions });
  if (route.operations.size === 0) throw new HttpError('NOT_FOUND');
  const operation = route.operations.get(method === 'HEAD' ? 'GET' : method);
  if (operation === undefined) throw new HttpError('METHOD_NOT_ALLOWED', { headers: { Allow: route.allow } });
  return operation;
}
