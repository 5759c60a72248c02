/** Addresses in examples: those of the document's own operations, for resources with the id 1. */
import { isObject } from '../../json-object.ts';
import { addSelfLink } from '../hal/index.ts';
import type { SchemaObject } from './schemas.ts';

type Paths = Readonly<Record<string, SchemaObject>>;
type Named = Readonly<Record<string, SchemaObject>>;

const host = 'https://shop.example';
const toExampleAddress = (path: string) => host + path.replaceAll(/\{\w+\}/g, '1');

/** The targets of relations whose name does not show it. */
const targetNames: Readonly<Record<string, string>> = {
  pay: 'payment',
  passwordReset: 'password-reset',
  customer: 'user',
  author: 'user',
};
const changes: Readonly<Record<string, string>> = { edit: 'PATCH', delete: 'DELETE' };

/** Returns the schemas with the links in their examples pointing to the documented paths. */
export function addAddresses(schemas: Named, paths: Paths): Record<string, SchemaObject> {
  const places = findPlaces(paths);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const path = places.get(name);
      if (path === undefined || !Array.isArray(schema.examples)) return [name, schema];
      return [
        name,
        { ...schema, examples: schema.examples.map(example => locateExample(example, path, paths)) },
      ];
    }),
  );
}

/** Finds the path of each schema's resource: one that ends with an id (`/v1/users/{id}`) if any, else the shortest. */
function findPlaces(paths: Paths): Map<string, string> {
  const places = new Map<string, string>();
  const rank = (path: string) => (path.endsWith('}') ? 0 : 1000) + path.length;
  const sorted = Object.entries(paths).sort(([a], [b]) => rank(a) - rank(b));
  for (const method of ['get', 'put', 'post']) {
    for (const [path, item] of sorted) {
      const { responses } = toObject(item[method]);
      // The resource of an action shows the representation that the action returns.
      const place = method === 'get' ? path : path.slice(0, path.lastIndexOf('}') + 1);
      for (const [, name = ''] of JSON.stringify(responses ?? {}).matchAll(/\/schemas\/(\w+)"/g))
        if (!places.has(name)) places.set(name, place);
    }
  }
  return places;
}

/** Sets the links of an example at `path`, and of its parts. */
function locateExample(example: unknown, path: string, paths: Paths): unknown {
  const { _links, _embedded, links, data, ...members } = toObject(example);
  const isList = 'meta' in members;
  const one = isList ? (findMemberPath(path, paths) ?? path) : path;
  const locateInside = (part: unknown) => locateExample(part, one, paths);
  if (Array.isArray(data) && links !== undefined)
    return {
      data: data.map(locateInside),
      ...members,
      links: {
        first: buildPageAddress(path, paths),
        last: buildPageAddress(path, paths),
        prev: null,
        next: null,
      },
    };
  if (_links === undefined) return example;
  const page = { href: buildPageAddress(path, paths) };
  const listLinks = addSelfLink(toExampleAddress(path), { first: page, last: page });
  const own = Object.entries(toObject(_links)).map(([name, link]) => {
    const target = linkTo(name, path, paths) ?? link;
    // Outside HAL some links are only the address.
    return [name, typeof link === 'string' ? toObject(target).href : target];
  });
  const parts = Object.entries(toObject(_embedded)).map(([name, part]) => {
    const place = isList ? one : (findEmbeddedPath(name, path, paths) ?? path);
    return [
      name,
      Array.isArray(part)
        ? part.map(each => locateExample(each, place, paths))
        : locateExample(part, place, paths),
    ];
  });
  return {
    ...toObject(example),
    _links: isList ? listLinks : Object.fromEntries(own),
    ...(_embedded === undefined ? {} : { _embedded: Object.fromEntries(parts) }),
  };
}

/** The address of the first page, with the required parameters of the list. */
function buildPageAddress(path: string, paths: Paths): string {
  const { parameters } = toObject(paths[path]?.get);
  const wanted = (Array.isArray(parameters) ? parameters.map(toObject) : []).filter(
    parameter => parameter.in === 'query' && parameter.required === true,
  );
  return `${toExampleAddress(path)}?${wanted.map(({ name, example }) => `${name}=${encodeURIComponent(`${example}`)}&`).join('')}page=1`;
}

function linkTo(relation: string, path: string, paths: Paths): SchemaObject | undefined {
  if (relation === 'self') return { href: toExampleAddress(path) };
  const method = changes[relation];
  if (method !== undefined) return { href: toExampleAddress(path), method };
  const below = `${path}/${targetNames[relation] ?? relation}`;
  const item = paths[below];
  if (item !== undefined)
    return { href: toExampleAddress(below), ...(item.get === undefined ? { method: 'POST' } : {}) };
  const other = findResourcePath(relation, paths);
  return other === undefined ? undefined : { href: toExampleAddress(other) };
}

const findEmbeddedPath = (relation: string, path: string, paths: Paths): string | undefined =>
  findMemberPath(`${path}/${relation}s`, paths) ?? findResourcePath(relation, paths);

const findResourcePath = (relation: string, paths: Paths): string | undefined =>
  Object.keys(paths).find(path => path.endsWith(`/${targetNames[relation] ?? relation}s/{id}`));

/** The path of a member of a collection: below it, or in a collection of the same name elsewhere. */
function findMemberPath(collection: string, paths: Paths): string | undefined {
  const name = collection.slice(collection.lastIndexOf('/'));
  const isBelow = (path: string) => path.startsWith(`${collection}/{`) && path.endsWith('}');
  const all = Object.keys(paths);
  return all.find(isBelow) ?? all.find(path => path.endsWith(`${name}/{id}`));
}

const toObject = (value: unknown): SchemaObject => (isObject(value) ? value : {});
