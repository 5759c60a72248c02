/** Parsing with a schema, which is compiled to one function once it is used often. */
import { z } from 'zod';

/** The `safeParse` function of a schema. */
export type Parse<Parsed> = (value: unknown) => z.ZodSafeParseResult<Parsed>;

/**
 * A schema is compiled on this use. Compiling takes some 5 to 10 ms, and saves 10 to 50 µs per use; most schemas of a
 * service are seldom used.
 */
export const worthCompiling = 100;

/** @returns a function that parses as the schema does; a schema that cannot be compiled is used as it is */
export function createParser<S extends z.ZodType>(schema: S): Parse<z.output<S>> {
  let uses = 0;
  let parser = schema;
  return value => {
    if (uses < worthCompiling && ++uses === worthCompiling) parser = z.compile(schema);
    return parser.safeParse(value);
  };
}
