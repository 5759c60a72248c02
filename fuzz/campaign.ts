/** One service on a fresh database, and every operation of its document driven with a share of the requests. */
import fc from 'fast-check';
import { type Contract, contractOf, type Operation } from '../test/support/http/contract.ts';
import { call } from '../test/support/http/http.ts';
import { type Walk, walkOf, webhookSecret } from '../test/support/http/walk.ts';
import { superlinearGrowth } from '../test/support/service/growth.ts';
import { type DatabaseKind, startTestService, type TestService } from '../test/support/service/service.ts';
import { besideCases } from './beside.ts';
import { type Credentials, credentialsOf } from './credentials.ts';
import { described, judge } from './judge.ts';
import { type Counts, createCounts } from './report.ts';
import { type Draft, draftsFor } from './requests.ts';
import { type RunCase, runCases, searchFor } from './runs.ts';
import { type Schema, valuesOf } from './schemas.ts';
import { type PublishedCase, publishedCases } from './texts/published.ts';
import { exchange, type WireRequest, type WireResponse } from './wire.ts';

export interface Campaign {
  readonly kind: DatabaseKind;
  readonly requests: number;
  readonly seed: number;
  readonly report: (line: string) => void;
}

/** What everything is sent to; made again when its own accounts have been damaged. */
interface Stage {
  readonly service: TestService;
  readonly walk: Walk;
  readonly credentials: Credentials;
}

/** Of the requests, those that are for published cases and for what no operation is there to answer. */
const publishedShare = 0.25;
const besideShare = 0.05;
/** Time for long runs: 10 s for 5000 requests. */
const msForRunsPerRequest = 2;
/** With it the service takes the reports that the walk signs. */
const settings = { STRIPE_WEBHOOK_SECRET: webhookSecret };
/** Operations that are driven at the same time. */
const atOnce = 8;
/** Failing requests that are tried in search of the smallest, for so long at most. */
const shrinkMs = 5000;

export async function runCampaign({ kind, requests, seed, report }: Campaign): Promise<Counts> {
  let service = await startTestService(kind, settings);
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Schema;
  const contract = contractOf(document);
  const values = valuesOf(reference => resolved(document, reference));
  let stage = await stageOf(service, contract);
  const counts = createCounts(contract.operations);
  const errorsLogged = () => service.log().filter(({ level }) => level === 'error').length;
  let logged = 0;

  /** @returns whether the response was in order */
  async function send(name: string, request: WireRequest, extra?: PublishedCase['expect']): Promise<Outcome> {
    const response = await exchange(service.url, request);
    counts.count(name, response);
    const problem = judge(contract, request, response) ?? (response && extra?.(response));
    return { request, response, problem };
  }

  /** Attributes that the requests define may refuse the products that the walk makes: they are removed then. */
  async function existingPath(operation: Operation): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await stage.walk.existingPath(operation);
      } catch (error) {
        const isRefused = error instanceof Error && error.message.includes('"field":"attributes');
        if (!isRefused || attempt === 3) throw error;
        await removeAttributes(service);
      }
    }
  }

  function failed(name: string, { request, response, problem }: Outcome): void {
    counts.fail(described(service.url, name, problem ?? '', request, response));
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
        await stage.walk.used(operation, status);
        // What was there may be gone now.
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
      await stage.walk.used(operation, outcome.response?.status ?? 0);
      if (outcome.problem !== undefined) failed(`${name}, ${operation.operationId}`, outcome);
    };
    for (let first = 0; first < cases.length; first += atOnce)
      await Promise.all(cases.slice(first, first + atOnce).map(one));
  }

  /** As many as there is time for; which ones is up to the seed. */
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

  /** What has been written is found and shown, which takes linear time as well. */
  async function showWritten({ request, response }: Outcome): Promise<void> {
    const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
    const target = isWrite && response !== undefined ? searchFor(response) : undefined;
    if (target === undefined) return;
    const headers = [['Authorization', `Bearer ${stage.service.tokens.admin}`]] as const;
    const found = await send('search', { method: 'GET', target, headers, body: undefined });
    if (found.problem !== undefined) failed('search for what was written', found);
  }

  /** What is wrong beyond answers: the log, and accounts that the requests themselves have damaged. */
  async function afterwards(name: string): Promise<void> {
    await service.settle();
    const now = errorsLogged();
    if (now > logged) {
      const line = service.log().filter(({ level }) => level === 'error')[logged];
      counts.fail(`FAILED ${name}: the service logged an error: ${JSON.stringify(line)}`);
      logged = now;
    }
    if (await isIntact(service)) return;
    report(`${name}: the run's own accounts were changed; going on with a fresh database`);
    await service.stop();
    service = await startTestService(kind, settings);
    stage = await stageOf(service, contract);
    logged = 0;
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
  await service.stop();
  return counts;

  /** The resources that requests need are made by requests as well, which may find something too. */
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

/** A step that meets each of so many cases once, far from the one before: no factor of theirs. */
function stepThrough(count: number): number {
  return count % primeStep === 0 ? 1 : primeStep;
}

const primeStep = 7919;

interface Outcome {
  readonly request: WireRequest;
  readonly response: WireResponse | undefined;
  readonly problem: string | undefined;
}

async function stageOf(service: TestService, { operations }: Contract): Promise<Stage> {
  const walk = await walkOf(service, operations);
  return { service, walk, credentials: await credentialsOf(service, walk) };
}

async function removeAttributes(service: TestService): Promise<void> {
  const { body, text } = await call(service, { path: '/v1/attributes', as: 'admin' });
  if (!Array.isArray(body.data)) throw new Error(`GET /v1/attributes answered ${text}`);
  for (const { id } of body.data)
    await call(service, { method: 'DELETE', path: `/v1/attributes/${id}`, as: 'admin' });
}

async function isIntact(service: TestService): Promise<boolean> {
  for (const role of ['admin', 'editor', 'user'] as const) {
    const { status, body } = await call(service, { path: '/v1/me', as: role });
    if (status !== 200 || body.role !== role) return false;
  }
  return true;
}

/** The more of a request there is to get wrong, the more often it is sent. */
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

const plainDraft = ({ method, path }: Operation): Draft => ({
  method,
  segments: path.split('/').flatMap(segment => (segment.startsWith('{') ? [undefined] : [])),
  query: '',
  headers: [],
  who: 'admitted',
  contentType: undefined,
  body: undefined,
});

async function requestOf(
  operation: Operation,
  path: string,
  draft: Draft,
  { walk, credentials }: Stage,
): Promise<WireRequest> {
  const existing = path.split('/');
  let parameter = 0;
  const target = operation.path
    .split('/')
    .map((segment, index) =>
      segment.startsWith('{') ? (draft.segments[parameter++] ?? existing[index]) : segment,
    )
    .join('/');
  const isSigned = draft.body !== undefined && draft.who === 'admitted';
  const signature = isSigned ? await walk.signature(operation, Buffer.from(draft.body ?? []).toString()) : {};
  const own = [
    ...(draft.contentType === undefined ? [] : ([['Content-Type', draft.contentType]] as const)),
    ...credentials(draft.who, operation),
    ...Object.entries(signature),
  ];
  const added = draft.headers.filter(([name]) => !own.some(([given]) => given === name));
  return {
    method: draft.method,
    target: draft.query === '' ? target : `${target}?${draft.query}`,
    headers: [...own, ...added],
    body: draft.body,
  };
}
