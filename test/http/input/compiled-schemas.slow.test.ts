/** A compiled schema parses as it did before: to the same values, and with the same problems. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { z } from 'zod';
import { createParser, worthCompiling } from '../../../src/http/request/parser.ts';
import { anyTextOf } from '../../support/samples/texts.ts';

const odd = fc.constantFrom(
  ...['', ' ', ' a ', 'a\u0000b', '\ud800', 'EUR', '4006381333931', '7', '1.5', 'a > b', 'active', 'M'],
  ...['2026-01-15T09:30:00.000Z', 'https://shop.example/a.jpg', 'ada@catalog.example', 'x'.repeat(201)],
);
const texts = fc.oneof(odd, anyTextOf({ maxLength: 20 }), fc.string({ maxLength: 8 }));
const anything = fc.oneof(
  ...[texts, fc.constantFrom(null, undefined, true, [], {}, -0, Number.NaN), fc.integer(), fc.double()],
);

/** Values that a schema may accept, including some that it does not. */
function valuesOf(type: z.core.$ZodType): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: usualOf(type) }, { weight: 1, arbitrary: anything });
}

function usualOf(type: z.core.$ZodType): fc.Arbitrary<unknown> {
  // Boundary: zod's union of all definitions, which `def.type` distinguishes.
  const { def } = type._zod as z.core.$ZodTypes['_zod'];
  switch (def.type) {
    case 'object': {
      const members = Object.entries(def.shape).map(([name, member]) => [name, valuesOf(member)] as const);
      return fc.record(Object.fromEntries(members), { requiredKeys: [] });
    }
    case 'array':
      return fc.array(valuesOf(def.element), { maxLength: 3 });
    case 'record':
      return fc.dictionary(texts, valuesOf(def.valueType), { maxKeys: 3 });
    case 'union':
      return fc.oneof(...def.options.map(valuesOf));
    case 'optional':
    case 'nullable':
      return fc.oneof({ weight: 3, arbitrary: usualOf(def.innerType) }, fc.constantFrom(null, undefined));
    case 'pipe':
      return usualOf(def.in);
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries));
    case 'literal':
      return fc.constantFrom(...def.values);
    case 'number':
      return fc.oneof(fc.integer({ min: -1, max: 50 }), fc.double({ min: -1, max: 1e6 }));
    case 'boolean':
      return fc.boolean();
    case 'string':
      return texts;
    default:
      return anything;
  }
}

const folder = join(import.meta.dir, '..', '..', '..', 'src', 'resources');
const files = [...new Bun.Glob('*/schema.ts').scanSync(folder)].sort();

/** The schemas that a file exports. */
async function readSchemas(file: string): Promise<[name: string, schema: z.ZodType][]> {
  const exported: Record<string, unknown> = await import(join(folder, file));
  return Object.entries(exported).flatMap(([name, value]) =>
    value instanceof z.ZodType ? [[`${file} ${name}`, value]] : [],
  );
}

const schemas = (await Promise.all(files.map(readSchemas))).flat();

/** The result of a parser, in a form that can be compared. */
function toOutcome(result: z.ZodSafeParseResult<unknown>) {
  return result.success ? { data: result.data } : { issues: result.error.issues };
}

test('every schema of a resource parses the same before and after it is compiled', () => {
  const taken = { valid: 0, invalid: 0 };
  for (const [name, schema] of schemas) {
    const parse = createParser(schema);
    for (let use = 0; use < worthCompiling; use++) parse(undefined);
    fc.assert(
      fc.property(valuesOf(schema), value => {
        const plain = schema.safeParse(structuredClone(value));
        taken[plain.success ? 'valid' : 'invalid'] += 1;
        expect({ name, ...toOutcome(parse(value)) }).toStrictEqual({ name, ...toOutcome(plain) });
      }),
      { numRuns: 40 },
    );
  }
  // The test is meaningful only if both outcomes occur often.
  expect(schemas.length).toBeGreaterThan(80);
  expect(Math.min(taken.valid, taken.invalid)).toBeGreaterThan(300);
});

test('all schemas of requests can be compiled', () => {
  const left = schemas.filter(([, schema]) => z.compile(schema) === schema).map(([name]) => name);
  expect(left).toEqual([]);
});
