/**
 * Parses DATABASE_URL for PostgreSQL: one server, or several of which one takes writes, in libpq's format:
 * `postgres://user:password@a.internal:5432,b.internal/catalog?target_session_attrs=read-write`.
 */
import { SQL } from 'bun';

const defaultPort = 5432;
const pattern = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
const host = /^(?:\[[\da-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i;
/** The values of libpq's parameter, without those for standbys, since the service writes. */
const attributes = ['any', 'read-write', 'primary'];
/** The modes that the driver knows. */
const sslMode = /^(|disable|allow|prefer|required?|verify[-_](ca|full))$/i;
const noServer =
  'names no server: it needs host:port after ://, or the folder of a Unix socket as %2Fvar%2Frun%2Fpostgresql';
/** How the characters with a meaning in an address are written in its user and password. */
export const encoding = 'written as %25, @ as %40, / as %2F, ? as %3F, # as %23';

export type Address = ReturnType<typeof parseAddress>;

/** @throws Error that says what is wrong, to follow "DATABASE_URL: …", and never contains a part of the password */
export function parseAddress(text: string) {
  const { credentials, list, path, search } = splitAddress(text);
  for (const [name, part] of [
    ['user and password', credentials ?? ''],
    ['the name of the database', path],
  ] as const)
    if (!isDecodable(part)) throw new Error(`needs % in ${name} ${encoding}`);
  const servers = list.split(',').map(parseServer);
  const parameters = new URLSearchParams(search);
  const attribute = parameters.get('target_session_attrs');
  if (attribute !== null && !attributes.includes(attribute)) {
    throw new Error(`target_session_attrs must be one of ${attributes.join(', ')}: the service writes`);
  }
  const modes = parameters.getAll('sslmode');
  if (modes.length > 1 || modes.some(mode => !sslMode.test(mode))) {
    throw new Error(
      'sslmode must be given once, as disable, allow, prefer, require, verify-ca or verify-full',
    );
  }
  parameters.delete('target_session_attrs');
  const query = parameters.size === 0 ? '' : `?${parameters}`;
  const before = credentials === undefined ? '' : `${credentials}@`;
  const buildUrl = (server: string) => `postgres://${before}${server}${path}${query}`;
  const database = path.slice(1) || findUsualDatabase(buildUrl(servers[0] ?? ''));
  return {
    /** `host:port` of each server, in the order given. */
    servers,
    /** Whether servers that take no writes are skipped: with several servers, unless the address says `any`. */
    requiresPrimary: attribute === null ? servers.length > 1 : attribute !== 'any',
    /** Names the servers and the database, without the password: for messages. */
    description: `PostgreSQL at ${servers.join(', ')} (database ${database})`,
    /** The URL of one of the servers, for the driver. */
    urlOf: buildUrl,
  };
}

/** The driver's database if the address names none: named like the user, or as the driver's environment says. */
const findUsualDatabase = (url: string): string => String(new SQL(url, { max: 1 }).options.database);

function splitAddress(text: string) {
  const parts = pattern.exec(text);
  const [, credentials, list = '', path = '/', search = ''] = parts ?? [];
  // An unencoded character of the password, such as /, ends this part of the address early: the @ is then in the rest.
  const isCut = parts === null ? text.includes('@') : `${list}${path}${search}`.includes('@');
  if (/^postgres(ql)?:\/\//.test(text) && isCut) throw new Error(`needs % in user and password ${encoding}`);
  if (parts === null) {
    throw new Error('must be a postgres:// or postgresql:// address, or unset for SQLite');
  }
  if (list === '') throw new Error(noServer);
  return { credentials, list, path, search };
}

function parseServer(server: string): string {
  const port = Number(/:(\d+)$/.exec(server)?.[1] ?? defaultPort);
  if (host.test(server) && (port < 1 || port > 65_535)) {
    throw new Error(`names a server with a port that is not from 1 to 65535: "${server}"`);
  }
  if (!host.test(server) || !URL.canParse(`postgres://${server}`)) {
    throw new Error(`names a server that is not host:port: "${server}"`);
  }
  return /:\d+$/.test(server) ? server : `${server}:${port}`;
}

/** Whether every % begins an escape, and all of them together are UTF-8. */
export function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
