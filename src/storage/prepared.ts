/**
 * Queries that are built once and run many times. Building and compiling a query with Kysely costs more than running
 * it: a prepared query is compiled on first use, and later only gets its arguments.
 */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { createBoundedMap } from '../bounded-map.ts';
import type { Builder } from './database.ts';

/** Stands in the compiled parameter list for the argument of the same name. */
class Placeholder {
  constructor(readonly name: string) {}
}

export type Arguments = Readonly<Record<string, unknown>>;
export type Placeholders<A extends Arguments> = { readonly [Name in keyof A]: RawBuilder<A[Name]> };

/** A query of Kysely's builder, or SQL; `prepareQuery` gets the type of its rows. */
type Query<Row> = { compile(): CompiledQuery<Row> } | RawBuilder<unknown>;

/**
 * @param query gets one placeholder per argument
 * @returns a function from arguments to a query that is ready to run
 */
export function prepareQuery<A extends Arguments, Row>(
  build: Builder,
  query: (argument: Placeholders<A>) => Query<Row>,
): (values: A) => CompiledQuery<Row> {
  let template:
    | { readonly compiled: CompiledQuery<Row>; readonly names: readonly (string | undefined)[] }
    | undefined;
  return values => {
    template ??= toTemplate(query(createPlaceholders<A>()).compile(build));
    const { compiled, names } = template;
    const parameters = names.map((name, index) =>
      name === undefined ? compiled.parameters[index] : values[name],
    );
    return { ...compiled, parameters };
  };
}

/** The compiled query, and for each parameter the argument it takes; undefined where it is a constant. */
function toTemplate<Row>(compiled: CompiledQuery<Row>) {
  const names = compiled.parameters.map(parameter =>
    parameter instanceof Placeholder ? parameter.name : undefined,
  );
  return { compiled, names };
}

/** Maximum number of shapes that are kept of a query: filters can be combined in very many ways. */
export const keptShapes = 500;

/** One prepared query per shape: for queries whose text depends on which filters are given. */
export function prepareByShape<A extends Arguments, Row>(
  build: Builder,
  queryOf: (shape: string, argument: Placeholders<A>) => Query<Row>,
): (shape: string, values: A) => CompiledQuery<Row> {
  const byShape = createBoundedMap<string, (values: A) => CompiledQuery<Row>>(keptShapes);
  const prepareShape = (shape: string) => prepareQuery<A, Row>(build, argument => queryOf(shape, argument));
  return (shape, values) => byShape.getOrCreate(shape, prepareShape)(values);
}

function createPlaceholders<A extends Arguments>(): Placeholders<A> {
  // Boundary: a Proxy is typed as its target; this one has a builder for every name.
  return new Proxy({} as Placeholders<A>, {
    get: (_, name) => sql`${new Placeholder(String(name))}`,
  });
}
