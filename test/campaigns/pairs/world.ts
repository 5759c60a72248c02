/** A world: a few related resources under names of their own, so that many worlds fit into one service. */
import { isObject } from '../../../src/json-object.ts';
import { patch, remove } from '../../support/areas/area.ts';
import { type Call, call } from '../../support/http/http.ts';
import { password, type TestService } from '../../support/service/service.ts';

type Headers = Readonly<Record<string, string>>;

export interface World {
  /** In the names of all resources of this world, and of no other. */
  readonly name: string;
  /** The path of a resource that was created when the world was. */
  at(key: string): string;
  id(key: string): number;
  /** The headers with which a person of this world signs requests. */
  by(person: string): Headers;
  /** The refresh token of a person of this world. */
  refreshToken(person: string): string;
}

export interface Area {
  /** Creates the resources on which the operations work. */
  readonly build: (world: Builder) => Promise<void>;
  readonly operations: Readonly<Record<string, Operation>>;
  /** Requests that show the resources. */
  readonly reads: (world: World) => readonly Call[];
}

interface Builder extends World {
  /** Creates a resource. @throws Error when it is refused */
  add(key: string, path: string, body: object, headers?: Headers): Promise<void>;
  /** Creates a user who signs in. */
  person(key: string, role?: string): Promise<void>;
  send(request: Call): Promise<void>;
}

export interface Built extends World {
  /** The key of a resource, by its kind and id: `products/5`. */
  readonly keys: ReadonlyMap<string, string>;
}

type Operation = (world: World) => Call;

export const change =
  (key: string, body: (world: World) => object): Operation =>
  world =>
    patch(world.at(key), body(world));

export const drop =
  (key: string): Operation =>
  world =>
    remove(world.at(key));

/** A request of a person of the world. */
export const from =
  (person: string, request: Operation): Operation =>
  world => {
    const { method, path, body } = request(world);
    return { ...(method === undefined ? {} : { method }), path, body, headers: world.by(person) };
  };

/** @param name must not be part of a word that a resource of the service contains */
export async function createWorld(service: TestService, name: string, { build }: Area): Promise<Built> {
  const paths = new Map<string, string>();
  const keys = new Map<string, string>();
  const tokens = new Map<string, string>();
  const people = new Map<string, Headers>();
  const required = <T>(map: ReadonlyMap<string, T>, key: string): T => {
    const found = map.get(key);
    if (found === undefined) throw new Error(`the world has no ${key}`);
    return found;
  };
  const at = (key: string) => required(paths, key);
  async function send(request: Call) {
    const sent = await call(service, request.headers === undefined ? { as: 'admin', ...request } : request);
    if (sent.status >= 300) throw new Error(`${request.method} ${request.path}: ${sent.status} ${sent.text}`);
    return sent;
  }
  const world = {
    name,
    at,
    id: (key: string) => Number(at(key).split('/').at(-1)),
    by: (person: string) => required(people, person),
    refreshToken: (person: string) => required(tokens, person),
  };
  async function add(key: string, path: string, body: object, headers?: Headers): Promise<void> {
    const made = await send({ method: 'POST', path, body, ...(headers === undefined ? {} : { headers }) });
    const { pathname } = new URL(made.headers.get('Location') ?? path, service.url);
    paths.set(key, pathname);
    keys.set(pathname.split('/').slice(-2).join('/'), key);
  }
  await build({
    ...world,
    add,
    send: async request => void (await send(request)),
    async person(key, role = 'user') {
      const email = `${name}.${key}@people.example`;
      await add(key, '/v1/users', { name: `${name} ${key}`, email, role, password });
      const signedIn = await send({ method: 'POST', path: '/v1/auth/login', body: { email, password } });
      tokens.set(key, signedIn.body.refreshToken);
      people.set(key, { Authorization: `Bearer ${signedIn.body.accessToken}` });
    },
  });
  return { ...world, keys };
}

/**
 * Members that differ by nature: what the database or chance draws, scores, and messages, which have ids. The links of a
 * response are read after the write, without a lock: an author may have been deleted by then.
 */
const passing = new Set(['id', 'requestId', 'number', 'slug', 'prefix', 'score', 'message', '_links']);
/** The kinds of resources of which members are ids. */
const kinds: Readonly<Record<string, string>> = {
  ...{ productId: 'products', variantId: 'variants', parentId: 'categories', orderId: 'orders' },
  ...{ customerId: 'users', authorId: 'users', postId: 'posts', userId: 'users' },
};

/** What a document shows, as it would be in another world: with keys in place of ids, and items in no order. */
export function normalize(world: Built, document: unknown): unknown {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (!isObject(value)) return value;
    const members = Object.entries(value).filter(([name]) => !passing.has(name));
    return Object.fromEntries(
      members.map(([name, one]) => {
        const kind = name === 'resourceId' ? pluralOf(String(value.resource)) : kinds[name];
        if (kind !== undefined && typeof one === 'number')
          return [name, world.keys.get(`${kind}/${one}`) ?? 'new'];
        if (name === 'actor')
          return [
            name,
            String(one).replace(/^user:(\d+)$/, (_, id) => world.keys.get(`users/${id}`) ?? `user:${id}`),
          ];
        if (name === 'data' && Array.isArray(one)) return [name, one.map(visit).sort(compare)];
        return [name, visit(one)];
      }),
    );
  };
  const text = JSON.stringify(visit(document) ?? null).replaceAll(world.name, 'W');
  const links = /http:\/\/127\.0\.0\.1:[^"]*/g;
  const secrets = /(ck_[\w-]{40,}|eyJ[\w-]+\.[\w-]+\.[\w-]+)/g;
  const times = /\d{4}-\d\d-\d\dT[^"]*/g;
  return JSON.parse(
    text.replaceAll(links, 'a link').replaceAll(secrets, 'a secret').replaceAll(times, 'a time'),
  );
}

const pluralOf = (resource: string): string => (resource === 'category' ? 'categories' : `${resource}s`);

const compare = (one: unknown, other: unknown): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
