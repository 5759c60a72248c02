/** Sends two writes to a new world, one after the other or at once, and reads what they leave. */
import { isObject } from '../../../src/json-object.ts';
import { post } from '../../support/areas/area.ts';
import { type Call, call, type Received } from '../../support/http/http.ts';
import type { TestService } from '../../support/service/service.ts';
import { type Area, type Built, createWorld, normalize } from './world.ts';

/** The names of two operations of an area. */
export type Pair = readonly [one: string, other: string];

export interface Outcome {
  /** In the order of the pair. */
  readonly responses: readonly unknown[];
  /** What each read shows, and the events of each resource. */
  readonly state: Readonly<Record<string, unknown>>;
}

type Send = (one: Call, other: Call) => Promise<readonly [Received, Received]>;

const unrelated = post('/v1/products', { name: 'Unrelated', price: 1 });
/** After this long, a process reads which sessions others have ended (docs/decisions/0022). */
const knownForMs = 31_000;

/** How many ways there are to send two writes at once. */
export const ways = 8;

/** @param replica another process on the database of the service */
export function createObserver(service: TestService, replica: TestService) {
  let worlds = 0;

  async function observe(area: Area, pair: Pair, reader: TestService, send: Send): Promise<Outcome> {
    const world = await createWorld(service, `w${1000 + worlds++}w`, area);
    const [one, other] = pair.map(name => area.operations[name]?.(world));
    if (one === undefined || other === undefined) throw new Error(`there is no operation of ${pair}`);
    const reads = area.reads(world);
    // What is cached or in memory must follow the writes.
    await Promise.all(reads.map(request => call(reader, request)));
    const last = await call(service, { path: '/v1/events?order=desc&perPage=1', as: 'admin' });
    const received = await send(one, other);
    await service.settle();
    if (reader === replica) service.clock.advance(knownForMs);
    const shown = reads.map(async (request, index) => {
      const path = request.path.replaceAll(world.name, 'W').replaceAll(/\d+/g, 'n');
      return [`${index} ${path}`, show(world, await call(reader, request))] as const;
    });
    const path = `/v1/events?afterId=${last.body.data[0].id}&perPage=100`;
    const events = trailsOf(world, (await call(reader, { path, as: 'admin' })).body.data);
    return {
      responses: received.map(response => show(world, response)),
      state: { ...Object.fromEntries(await Promise.all(shown)), events },
    };
  }

  /** The first operation of the pair before the second, and after it. */
  async function observeSerial(area: Area, pair: Pair): Promise<readonly Outcome[]> {
    const inOrder = await observe(area, pair, service, async (one, other) => [
      await call(service, one),
      await call(service, other),
    ]);
    const reversed = await observe(area, pair, service, async (one, other) => {
      const first = await call(service, other);
      return [await call(service, one), first];
    });
    return [inOrder, reversed];
  }

  /** @param way to one process or to two, either first, alone or just after another write: a number below `ways` */
  function observeAtOnce(area: Area, pair: Pair, way: number): Promise<Outcome> {
    const second = way % 2 === 0 ? service : replica;
    return observe(area, pair, second, async (one, other) => {
      const before = way < 4 ? undefined : call(service, unrelated);
      const sends = [() => call(service, one), () => call(second, other)];
      const isReversed = way % 4 > 1;
      const sent = (isReversed ? sends.reverse() : sends).map(send => send());
      const [first, last] = await Promise.all(isReversed ? sent.reverse() : sent);
      await before;
      if (first === undefined || last === undefined) throw new Error('two requests have two responses');
      return [first, last];
    });
  }

  return { observeSerial, observeAtOnce };
}

interface Problem {
  readonly field: string;
  readonly code: string;
}

/** Without the messages of errors, which name ids. */
function show(world: Built, { status, body }: Received): unknown {
  if (status < 400) return normalize(world, { status, body });
  const problems: readonly Problem[] = body.details ?? [];
  const fields = problems.map(({ field, code }) => `${field} ${code}`);
  return normalize(world, { status, error: body.error.replace(/\d+/, 'n'), fields });
}

interface Happening {
  readonly after: { readonly name?: string } | null;
}

/** The events of each resource of the world, oldest first. */
function trailsOf(world: Built, events: readonly Happening[]): Readonly<Record<string, unknown>> {
  const shown = events
    .filter(({ after }) => after?.name !== 'Unrelated')
    .map(event => normalize(world, event));
  return {
    ...Object.groupBy(shown, event => (isObject(event) ? `${event.resource} ${event.resourceId}` : '')),
  };
}
