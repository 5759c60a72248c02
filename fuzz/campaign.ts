/** A campaign: a service on a fresh database, each of whose operations gets a share of the requests. */
import fc from 'fast-check';
import type { Operation } from '../test/support/http/contract.ts';
import type { Walk } from '../test/support/http/walk.ts';
import { superlinearGrowth } from '../test/support/service/growth.ts';
import type { DatabaseKind, TestService } from '../test/support/service/service.ts';
import { besideCases } from './beside.ts';
import { described, judge } from './judge.ts';
import { type Counts, createCounts } from './report.ts';
import { draftsFor } from './requests.ts';
import { type RunCase, runCases, searchFor } from './runs.ts';
import { type Schema, valuesOf } from './schemas.ts';
import { isIntact, plainDraft, removeAttributes, requestOf, type Stage, startStage } from './stage.ts';
import { type PublishedCase, publishedCases } from './texts/published.ts';
import { exchange, type WireRequest, type WireResponse } from './wire.ts';

export interface Campaign {
  readonly kind: DatabaseKind;
  readonly requests: number;
  readonly seed: number;
  readonly report: (line: string) => void;
}

/** The shares of requests for published cases, and for those that match no operation. */
const publishedShare = 0.25;
const besideShare = 0.05;
/** Time for long runs: 10 s for 5000 requests. */
const msForRunsPerRequest = 2;
/** The number of operations tested at the same time. */
const atOnce = 8;
/** While an operation prepares its requests, concurrent ones may repeatedly define attributes and damage accounts. */
const maxAttempts = 20;
/** The time limit of the search for the smallest failing request. */
const shrinkMs = 5000;

export async function runCampaign({ kind, requests, seed, report }: Campaign): Promise<Counts> {
  let stage = await startStage(kind);
  const { contract, document } = stage;
  const values = valuesOf(reference => resolved(document, reference));
  let renewing: Promise<void> | undefined;
  /** Services of damaged databases, which are stopped when no request waits for them any more. */
  const retired: TestService[] = [];
  /** The number of errors in a service's log that are already counted. */
  const logged = new Map<TestService, number>();
  const counts = createCounts(contract.operations);

  /** Sends a request and judges its response. */
  async function send(name: string, request: WireRequest, extra?: PublishedCase['expect']): Promise<Outcome> {
    const response = await exchange(stage.service.url, request);
    counts.count(name, response);
    const problem = judge(contract, request, response) ?? (response && extra?.(response));
    return { request, response, problem };
  }

  /**
   * Lets the walk create the resources that a request needs. If attributes that other requests defined refuse its
   * products, removes them. If other requests changed the accounts that it uses, continues with a fresh database.
   */
  async function prepare<T>({ operationId }: Operation, work: (walk: Walk) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const used = stage;
      try {
        return await work(used.walk);
      } catch (error) {
        if (attempt === maxAttempts) throw error;
        const isRefused = error instanceof Error && error.message.includes('"field":"attributes');
        if (isRefused) await removeAttributes(used.service);
        else if (used === stage && (await isIntact(used.service))) throw error;
        else await renew(operationId, used);
      }
    }
  }

  const existingPath = (operation: Operation) => prepare(operation, walk => walk.existingPath(operation));

  const reportSent = (operation: Operation, status: number) =>
    prepare(operation, walk => walk.used(operation, status));

  /** Replaces a damaged database by a fresh one; the old service keeps running for its outstanding requests. */
  async function renew(name: string, damaged: Stage): Promise<void> {
    if (stage !== damaged) return;
    renewing ??= (async () => {
      report(`${name}: the run's own accounts were changed; going on with a fresh database`);
      retired.push(damaged.service);
      stage = await startStage(kind);
      renewing = undefined;
    })();
    await renewing;
  }

  function failed(name: string, { request, response, problem }: Outcome): void {
    counts.fail(described(stage.service.url, name, problem ?? '', request, response));
  }

  async function fuzz(operation: Operation, numRuns: number, index: number): Promise<void> {
    let path: string | undefined;
    let worst: Outcome | undefined;
    let stopAt = Number.POSITIVE_INFINITY;
    const property = fc.asyncProperty(
      draftsFor(operation, values, stage.walk.body(operation)),
      async draft => {
        if (performance.now() > stopAt) return;
        path ??= await existingPath(operation);
        const outcome = await send(operation.operationId, await requestOf(operation, path, draft, stage));
        const status = outcome.response?.status ?? 0;
        await reportSent(operation, status);
        // The resource may no longer exist.
        if (status === 404 || operation.method === 'DELETE' || draft.method === 'DELETE') path = undefined;
        if (outcome.problem === undefined) return;
        worst = outcome;
        stopAt = Math.min(stopAt, performance.now() + shrinkMs);
        throw new Error(outcome.problem);
      },
    );
    const checked = await fc.check(property, { numRuns, seed: seed + index });
    if (worst !== undefined) failed(operation.operationId, worst);
    else if (checked.failed) throw checked.errorInstance;
  }

  async function each(name: string, cases: readonly PublishedCase[]): Promise<void> {
    const one = async ({ operation, request, expect }: PublishedCase): Promise<void> => {
      const path = await existingPath(operation);
      const sent = await requestOf(operation, path, { ...plainDraft(operation), ...request }, stage);
      const outcome = await send(operation.operationId, sent, expect);
      await reportSent(operation, outcome.response?.status ?? 0);
      if (outcome.problem !== undefined) failed(`${name}, ${operation.operationId}`, outcome);
    };
    for (let first = 0; first < cases.length; first += atOnce)
      await Promise.all(cases.slice(first, first + atOnce).map(one));
  }

  /** Runs as many cases as there is time for; the seed determines which. */
  async function runs(cases: readonly RunCase[]): Promise<void> {
    const stopAt = performance.now() + requests * msForRunsPerRequest;
    const step = stepThrough(cases.length);
    for (let sent = 0; sent < cases.length && performance.now() < stopAt; sent++) {
      const found = cases[(seed + sent * step) % cases.length];
      if (found !== undefined) await oneRun(found);
    }
  }

  async function oneRun({ operation, name, length, request }: RunCase): Promise<void> {
    const path = await existingPath(operation);
    let last: Outcome | undefined;
    const growth = await superlinearGrowth(async longer => {
      const sent = await requestOf(operation, path, { ...plainDraft(operation), ...request(longer) }, stage);
      last = await send(operation.operationId, sent);
      await showWritten(last);
    }, length);
    const title = `${operation.operationId}, ${name}`;
    if (last?.problem !== undefined) failed(title, last);
    if (growth === undefined) return;
    const { milliseconds, fourfold } = growth;
    const times = `${milliseconds.toFixed()} ms for ${length} characters, ${fourfold.toFixed()} ms for four times as many`;
    counts.fail(`FAILED ${title}: not linear: ${times}`);
  }

  /** Searches for what was written, since finding and showing it must take linear time as well. */
  async function showWritten({ request, response }: Outcome): Promise<void> {
    const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
    const target = isWrite && response !== undefined ? searchFor(response) : undefined;
    if (target === undefined) return;
    const headers = [['Authorization', `Bearer ${stage.service.tokens.admin}`]] as const;
    const found = await send('search', { method: 'GET', target, headers, body: undefined });
    if (found.problem !== undefined) failed('search for what was written', found);
  }

  /** Checks what responses do not show: errors in the log, and accounts that the requests have damaged. */
  async function afterwards(name: string): Promise<void> {
    if (!(await isIntact(stage.service))) await renew(name, stage);
    await stage.service.settle();
    findErrors(name, stage.service);
    for (const service of retired.splice(0)) {
      await service.settle();
      findErrors(name, service);
      await service.stop();
    }
  }

  /** Counts the first new error in the log of a service as a failure: it often causes the others. */
  function findErrors(name: string, service: TestService): void {
    const errors = service.log().filter(({ level }) => level === 'error');
    const first = errors[logged.get(service) ?? 0];
    if (first !== undefined)
      counts.fail(`FAILED ${name}: the service logged an error: ${JSON.stringify(first)}`);
    logged.set(service, errors.length);
  }

  const published = await publishedCases(contract.operations, {
    seed,
    limit: Math.floor(requests * publishedShare),
    requiredOf: ({ body }) => values.required(body?.['application/json']?.schema ?? {}),
    report,
  });
  const beside = besideCases(seed, Math.floor(requests * besideShare));
  const left = requests - published.length - beside.length;
  const weights = contract.operations.map(weightOf);
  const share = left / weights.reduce((sum, weight) => sum + weight, 0);
  for (let first = 0; first < contract.operations.length; first += atOnce) {
    const batch = contract.operations.slice(first, first + atOnce);
    await Promise.all(
      batch.map((operation, index) =>
        guarded(operation.operationId, () =>
          fuzz(operation, Math.max(1, Math.round(share * weightOf(operation))), first + index),
        ),
      ),
    );
    await afterwards(batch.map(({ operationId }) => operationId).join(', '));
  }
  await guarded('published cases', () => each('a published case', published));
  await afterwards('published cases');
  await guarded('long runs', () =>
    runs(runCases(contract.operations, operation => stage.walk.body(operation))),
  );
  await afterwards('long runs');
  for (const request of beside) {
    const outcome = await send('(beside)', request);
    if (outcome.problem !== undefined) failed('(beside)', outcome);
  }
  await afterwards('(beside)');
  await stage.service.stop();
  return counts;

  /** Counts an error of `work` as a failure: creating the resources that requests need may find defects too. */
  async function guarded(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      counts.fail(
        `FAILED ${name}, while making what it needs: ${error instanceof Error ? error.message : error}`,
      );
    }
  }
}

/** A step, coprime to `count`, that visits each case once, and far from the previous one. */
function stepThrough(count: number): number {
  return count % primeStep === 0 ? 1 : primeStep;
}

const primeStep = 7919;

interface Outcome {
  readonly request: WireRequest;
  readonly response: WireResponse | undefined;
  readonly problem: string | undefined;
}

/** Operations whose requests have more to get wrong are called more often. */
function weightOf({ body, parameters, path }: Operation): number {
  if (body !== undefined) return 6;
  return parameters.some(parameter => parameter.in === 'query') || path.includes('{') ? 3 : 1;
}

function resolved(document: Schema, reference: string): Schema {
  return reference
    .slice(2)
    .split('/')
    .reduce((at, token) => at[token] as Schema, document);
}
