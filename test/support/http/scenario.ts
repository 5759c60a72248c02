/** A scenario: a request, the parts of its response that matter, and a check that reads and refusals write nothing. */
import { expect } from 'bun:test';
import { unchanged } from '../service/contents.ts';
import type { TestService } from '../service/service.ts';
import { type Call, call, type Received } from './http.ts';

export interface Scenario extends Call {
  readonly name: string;
  readonly status: number;
  /** The whole body. */
  readonly response?: unknown;
  /** The error's code; contract.ts checks the shape of its body. */
  readonly error?: string;
  /** Field and rule of every problem of the named error, by default VALIDATION_FAILED. */
  readonly problems?: readonly (readonly [field: string, rule: string])[];
  /** Headers that the response must have; null for those it must not have. */
  readonly responseHeaders?: Readonly<Record<string, string | null>>;
}

/** Plays a scenario; requests that read or are refused must leave the database as it was. */
export async function play(service: TestService, scenario: Scenario): Promise<Received> {
  const check = await unchanged(service);
  const response = await call(service, scenario);
  expect({
    status: response.status,
    ...(response.status === scenario.status ? {} : { text: response.text }),
  }).toEqual({
    status: scenario.status,
  });
  if (scenario.response !== undefined) expect(response.body).toEqual(scenario.response);
  if (scenario.error !== undefined) expect(response.body.error).toBe(scenario.error);
  if (scenario.problems !== undefined) {
    expect(response.body.error).toBe(scenario.error ?? 'VALIDATION_FAILED');
    const details = response.body.details as { field: string; pointer: string; code: string }[];
    expect(details.map(({ field, code }) => [field, code])).toEqual(scenario.problems.map(pair => [...pair]));
    for (const { pointer } of details) expect(pointer).toStartWith('#');
  }
  for (const [name, value] of Object.entries(scenario.responseHeaders ?? {}))
    expect([name, response.headers.get(name)]).toEqual([name, value]);
  const reads = scenario.method === undefined || scenario.method === 'GET' || scenario.method === 'HEAD';
  if (reads || response.status >= 400) await check();
  return response;
}
