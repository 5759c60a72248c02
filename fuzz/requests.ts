/** Arbitrary requests for an operation: as declared, wrong in one respect, or wrong in all at once. */
import fc from 'fast-check';
import type { Operation } from '../test/support/http/contract.ts';
import type { Schema, Values } from './schemas.ts';
import { contentTypes, headers, methods, queries, segments, strings } from './texts/hostile.ts';
import { textsOf } from './texts/json-texts.ts';

/** The caller: one that the operation admits, one with a role, or one with invalid credentials. */
export type Who = 'admitted' | 'admin' | 'editor' | 'user' | 'nobody' | { readonly forged: number };

export interface Draft {
  readonly method: string;
  /** Values for the parameters of the path; undefined for an existing resource. */
  readonly segments: readonly (string | undefined)[];
  /** Appended to the target as it is; empty for none. */
  readonly query: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly who: Who;
  readonly contentType: string | undefined;
  readonly body: Uint8Array | undefined;
}

/** @param example a body that the operation accepts; undefined for none */
export function draftsFor(operation: Operation, values: Values, example: unknown): fc.Arbitrary<Draft> {
  const parameters = operation.path.split('/').filter(segment => segment.startsWith('{')).length;
  const queryParameters = operation.parameters.filter(parameter => parameter.in === 'query');
  const required = queryParameters.filter(parameter => parameter.required);
  const content = Object.entries(operation.body ?? {});

  const parameter = (name: string, schema: Schema | undefined, valid: boolean) =>
    (valid ? values.valid(schema ?? {}) : values.broken(schema ?? {})).map(
      value => `${name}=${encoded(typeof value === 'string' ? value : JSON.stringify(value))}`,
    );
  const queryOf = (chosen: typeof queryParameters, valid: boolean): fc.Arbitrary<string> =>
    fc
      .tuple(...chosen.map(({ name, schema }) => parameter(name, schema, valid)))
      .map(parts => parts.join('&'));
  const someOf = (valid: boolean) =>
    fc
      .subarray(queryParameters, { maxLength: Math.min(4, queryParameters.length) })
      .chain(chosen => queryOf([...new Set([...required, ...chosen])], valid));

  const plainBody = (): fc.Arbitrary<Pick<Draft, 'contentType' | 'body'>> =>
    content.length === 0
      ? fc.constant({ contentType: undefined, body: undefined })
      : fc.constantFrom(...content).chain(([contentType, { schema }]) => {
          const own = values.valid(schema ?? {});
          const isOwn = example === undefined || contentType !== 'application/json';
          const given = { weight: isOwn ? 0 : 1, arbitrary: fc.constant(example) };
          return fc
            .oneof({ weight: 4, arbitrary: own }, given)
            .map(value => ({ contentType, body: bytesOf(JSON.stringify(value)) }));
        });
  const brokenBody = (): fc.Arbitrary<Pick<Draft, 'contentType' | 'body'>> =>
    content.length === 0
      ? fc.constant({ contentType: 'application/json', body: bytesOf('{"unasked":true}') })
      : fc.constantFrom(...content).chain(([contentType, { schema }]) => {
          const own = values.broken(schema ?? {});
          const isOwn = example === undefined || contentType !== 'application/json';
          // The example refers to existing resources, which few values of the schema do.
          const wrong = (isOwn ? own : fc.oneof(own, values.broken(schema ?? {}, example))).map(value =>
            bytesOf(JSON.stringify(value) ?? ''),
          );
          const texts = values.valid(schema ?? {}).chain(value => textsOf(JSON.stringify(value)));
          const body = fc.oneof({ arbitrary: wrong, weight: 3 }, { arbitrary: texts, weight: 2 });
          return body.map(bytes => ({ contentType, body: bytes }));
        });

  const usual = fc.tuple(someOf(true), plainBody()).map(
    ([query, sent]): Draft => ({
      method: operation.method,
      segments: Array(parameters).fill(undefined),
      query,
      headers: [],
      who: 'admitted',
      ...sent,
    }),
  );

  const brokenQuery = fc.oneof(someOf(false), fc.constantFrom(...queries));
  const brokenPath = fc.array(
    fc.oneof(fc.constant(undefined), fc.constantFrom(...segments), fc.constantFrom(...strings).map(encoded)),
    {
      minLength: parameters,
      maxLength: parameters,
    },
  );
  const brokenHeaders = fc.uniqueArray(fc.constantFrom(...headers), {
    minLength: 1,
    maxLength: 3,
    selector: ([name]) => name,
  });
  const brokenWho: fc.Arbitrary<Who> = fc.oneof(
    fc.constantFrom<Who>('admin', 'editor', 'user', 'nobody'),
    fc.nat(30).map(forged => ({ forged })),
  );
  const brokenType = fc.constantFrom(...contentTypes);
  const brokenMethod = fc.constantFrom(...methods);

  type Change = fc.Arbitrary<Partial<Draft>>;
  const changes: [weight: number, change: Change][] = [
    [content.length > 0 ? 12 : 1, brokenBody()],
    [queryParameters.length > 0 ? 5 : 1, brokenQuery.map(query => ({ query }))],
    [parameters > 0 ? 4 : 0, brokenPath.map(broken => ({ segments: broken }))],
    [4, brokenHeaders.map(chosen => ({ headers: chosen }))],
    [2, brokenWho.map(who => ({ who }))],
    [1, brokenType.map(contentType => ({ contentType }))],
    [1, brokenMethod.map(method => ({ method }))],
  ];
  const one = fc.oneof(...changes.map(([weight, arbitrary]) => ({ weight, arbitrary })));
  const all = fc
    .tuple(brokenBody(), brokenQuery, brokenPath, brokenHeaders, brokenWho)
    .map(([body, query, broken, chosen, who]) => ({
      ...body,
      query,
      segments: broken,
      headers: chosen,
      who,
    }));
  const changed = fc.oneof({ weight: 9, arbitrary: one as Change }, { weight: 1, arbitrary: all as Change });
  return fc.oneof(
    { weight: 2, arbitrary: usual },
    { weight: 7, arbitrary: fc.tuple(usual, changed).map(([draft, change]) => ({ ...draft, ...change })) },
  );
}

/** A string as part of a target. With a lone surrogate, which has no encoding, it begins with invalid UTF-8. */
function encoded(text: string): string {
  return text.isWellFormed()
    ? encodeURIComponent(text)
    : `%ed%a0%80${encodeURIComponent(text.toWellFormed())}`;
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
