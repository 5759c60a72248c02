/**
 * Two writes at the same moment: their responses and what they leave equal those of one after the other. Each pair is
 * sent in both orders to worlds that begin alike, and then at once to other worlds. PAIR_ROUNDS=n sends each pair n
 * times, PAIR_ONLY=name only those with this operation; otherwise some pairs are drawn, and sent once.
 */
import { expect, test } from 'bun:test';
import { isDeepStrictEqual } from 'node:util';
import { random } from '../../../bench/load/random.ts';
import { createChecks } from '../../../src/cli/check/parts.ts';
import { isObject } from '../../../src/json-object.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { countDraws } from '../share.ts';
import { orders, variants } from './goods.ts';
import { createObserver, type Outcome, type Pair, ways } from './observe.ts';
import { people } from './people.ts';
import { places } from './places.ts';
import type { Area } from './world.ts';

const areas: readonly (readonly [name: string, area: Area])[] = [
  ['products, categories and attributes', places],
  ['variants, images and stock', variants],
  ['orders and their products', orders],
  ['people and what they write', people],
];

const given = process.env.PAIR_ROUNDS;
const only = process.env.PAIR_ONLY;
/** How many pairs of each area are drawn. */
const drawnPairs = countDraws(30);
/** So few that the clock, which advances with each round, does not reach the end of the access tokens. */
const pairsPerService = 20;
const draw = random(Number(process.env.PROPERTY_SEED ?? Math.floor(Math.random() * 2 ** 31)));

/** In random order. */
function choosePairs({ operations }: Area): readonly Pair[] {
  const names = Object.keys(operations);
  const all = names.flatMap((one, index) => names.slice(index).map(other => [one, other] as const));
  const chosen = all.filter(pair => only === undefined || pair.includes(only) || pair.join() === only);
  const shuffled = chosen.map(pair => ({ pair, place: draw.integer(0, 2 ** 30) }));
  shuffled.sort((a, b) => a.place - b.place);
  return shuffled.map(({ pair }) => pair).slice(0, given === undefined ? drawnPairs : undefined);
}

/** What `catalog check` finds. */
async function findDamage({ database }: TestService, pairs: readonly Pair[]): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const { name, find } of createChecks(database)) {
    const problems = await database.snapshot(find);
    if (problems.length > 0) found.push({ name, problems, pairs });
  }
  return found;
}

describeOnDatabases('two writes at once on %s', kind => {
  /** @param serial the outcomes of pairs one after the other, as far as they are known */
  async function findDifferences(
    area: Area,
    pairs: readonly Pair[],
    serial: Map<Pair, Promise<readonly Outcome[]>>,
  ): Promise<readonly unknown[]> {
    await using service = await startTestService(kind);
    const { observeSerial, observeAtOnce } = createObserver(service, await service.replica());
    const found: unknown[] = [];
    for (const pair of pairs) {
      const expected = await serial.getOrInsertComputed(pair, () => observeSerial(area, pair));
      const way = draw.integer(0, ways - 1);
      const outcome = await observeAtOnce(area, pair, way);
      const [fewest = []] = expected
        .map(one => differencesOf(one, outcome))
        .sort((one, other) => one.length - other.length);
      if (fewest.length > 0) found.push({ pair, way, differences: fewest });
    }
    return [...found, ...(await findDamage(service, pairs))];
  }

  test.each([...areas])(
    '%s',
    async (_, area) => {
      const pairs = choosePairs(area);
      const serial = new Map<Pair, Promise<readonly Outcome[]>>();
      const found: unknown[] = [];
      for (let round = 0; round < Number(given ?? 1); round++)
        for (let start = 0; start < pairs.length; start += pairsPerService)
          found.push(...(await findDifferences(area, pairs.slice(start, start + pairsPerService), serial)));
      expect(found).toEqual([]);
    },
    24 * 3_600_000,
  );
});

/** The places where two documents differ, with both values. */
function differencesOf(expected: unknown, found: unknown, place = ''): readonly string[] {
  if (isDeepStrictEqual(expected, found)) return [];
  const [members, others] = [membersOf(expected), membersOf(found)];
  if (members === undefined || others === undefined)
    return [`${place}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`];
  const names = new Set([...members.keys(), ...others.keys()]);
  return [...names].flatMap(name => differencesOf(members.get(name), others.get(name), `${place}/${name}`));
}

const membersOf = (document: unknown): ReadonlyMap<string, unknown> | undefined =>
  isObject(document) || Array.isArray(document) ? new Map(Object.entries(document)) : undefined;
