/**
 * DATABASE_URL of PostgreSQL: one server, or several of which one takes writes, as libpq writes them:
 * `postgres://user:password@a.internal:5432,b.internal/catalog?target_session_attrs=read-write`.
 */

const defaultPort = 5432;
const pattern = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/;
const host = /^(?:\[[\da-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i;
/** What libpq calls the sessions that a client can use; the service writes, so standbys are never among them. */
const attributes = ['any', 'read-write', 'primary'];

export interface Address {
  /** `host:port` of each server, in the order given. */
  readonly servers: readonly string[];
  /** Whether a server that takes no writes is passed over: with several servers unless the address says `any`. */
  readonly requiresPrimary: boolean;
  /** Names the servers and the database, without the password: for messages. */
  readonly description: string;
  /** The URL of one of the servers, for the driver. */
  urlOf(server: string): string;
}

/** @throws Error with the broken rule, fit for "DATABASE_URL: …" */
export function parseAddress(text: string): Address {
  const parts = pattern.exec(text);
  if (parts === null) {
    throw new Error('takes postgres:// and postgresql:// addresses only, or nothing for SQLite');
  }
  const [, credentials, list = '', path = '/', search = ''] = parts;
  const servers = list.split(',').map(server => {
    if (!host.test(server)) throw new Error(`names a server that is no host:port: "${server}"`);
    return /:\d+$/.test(server) ? server : `${server}:${defaultPort}`;
  });
  const parameters = new URLSearchParams(search);
  const attribute = parameters.get('target_session_attrs');
  if (attribute !== null && !attributes.includes(attribute)) {
    throw new Error(`target_session_attrs is one of ${attributes.join(', ')}: the service writes`);
  }
  parameters.delete('target_session_attrs');
  const query = parameters.size === 0 ? '' : `?${parameters}`;
  const before = credentials === undefined ? '' : `${credentials}@`;
  return {
    servers,
    requiresPrimary: attribute === null ? servers.length > 1 : attribute !== 'any',
    description: `PostgreSQL at ${servers.join(', ')} (database ${path.slice(1)})`,
    urlOf: server => `postgres://${before}${server}${path}${query}`,
  };
}
