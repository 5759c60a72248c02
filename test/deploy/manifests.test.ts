/** The files of deploy/ name settings, paths and metrics that exist, and leave a stop the time that it needs. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { loadConfig } from '../../src/config.ts';
import { settings } from '../../src/settings/index.ts';
import { runHere } from '../cli/here.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const folder = join(import.meta.dir, '..', '..', 'deploy');
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
/** Read from the environment by Bun's client of S3. */
const others = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
const known = [...Object.keys(settings), ...others];
const { STOP_DELAY, STOP_TIMEOUT, MIGRATION_TIMEOUT } = loadConfig({});
const stopTime = STOP_DELAY + STOP_TIMEOUT;

const composeSchema = z.object({
  services: z.object({
    catalog: z.object({ environment: z.record(z.string(), z.string()), stop_grace_period: z.string() }),
  }),
});
const probe = z.object({
  httpGet: z.object({ path: z.string() }),
  periodSeconds: z.number(),
  failureThreshold: z.number().default(3),
});
const podSchema = z.object({
  terminationGracePeriodSeconds: z.number(),
  containers: z.tuple([
    z.object({
      env: z.array(z.object({ name: z.string(), value: z.string() })),
      startupProbe: probe,
      livenessProbe: probe,
      readinessProbe: probe,
    }),
  ]),
});
const alertsSchema = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});

const { catalog } = composeSchema.parse(Bun.YAML.parse(read('container/compose.yaml'))).services;
const deployment = z
  .object({ spec: z.object({ template: z.object({ spec: podSchema }) }) })
  .parse(z.array(z.unknown()).parse(Bun.YAML.parse(read('kubernetes/catalog.yaml')))[0]);
const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const secrets = [...read('kubernetes/catalog.yaml').matchAll(/--from-literal=(\w+)=/g)].map(
  ([, name]) => name ?? '',
);
const unit = read('systemd/catalog.service');

test.each([
  ['compose.yaml', Object.keys(catalog.environment)],
  ['kubernetes/catalog.yaml', [...secrets, ...container.env.map(({ name }) => name)]],
])('%s names settings that exist', (_, names) => {
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter(name => !known.includes(name))).toEqual([]);
});

test('the values of settings are permitted', () => {
  const given = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  const secret = { DATABASE_URL: 'postgres://catalog@database/catalog', JWT_SECRET: 'x'.repeat(32) };
  expect(loadConfig({ ...given, ...secret }).PAYMENT_BY_HAND).toBe('staff');
  const { TRUST_PROXY, PAYMENT_BY_HAND, BASE_URL = '' } = catalog.environment;
  expect(loadConfig({ TRUST_PROXY, PAYMENT_BY_HAND, BASE_URL }).TRUST_PROXY).toBe(true);
});

test.each([
  ['compose.yaml', Number.parseInt(catalog.stop_grace_period, 10)],
  ['kubernetes/catalog.yaml', pod.terminationGracePeriodSeconds],
  ['catalog.service', Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])],
])('%s waits longer for a stop than it may take', (_, seconds) => {
  expect(seconds).toBeGreaterThan(stopTime);
});

test('probes give migrations their time, and see a stop before it ends', () => {
  const { startupProbe, readinessProbe } = container;
  expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThanOrEqual(
    MIGRATION_TIMEOUT,
  );
  expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold).toBeLessThan(STOP_DELAY);
});

describe('a running service', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService('sqlite');
  });
  afterAll(() => service.stop());

  test.each([container.startupProbe, container.livenessProbe, container.readinessProbe])(
    'responds to the probe of %o',
    async ({ httpGet }) => {
      expect((await fetch(`${service.url}${httpGet.path}`)).status).toBe(200);
    },
  );

  test('has the metrics that alerts watch', async () => {
    // The number of 5xx and of requests over a quota appears with the first request.
    await fetch(`${service.url}/v1/products`);
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const names = new Set([...text.matchAll(/^(\w+)[ {]/gm)].map(([, name]) => name));
    const { rules } = alertsSchema.parse(Bun.YAML.parse(read('prometheus/alerts.yaml'))).groups[0] ?? {
      rules: [],
    };
    const watched = rules.flatMap(({ expr }) => expr.match(/\bcatalog_\w+/g) ?? []);
    expect(watched.length).toBeGreaterThan(8);
    expect(watched.filter(name => !names.has(name))).toEqual([]);
  });
});

const checkers: [program: string, args: string[]][] = [
  ['promtool', ['check', 'rules', join(folder, 'prometheus/alerts.yaml')]],
  ['caddy', ['validate', '--adapter', 'caddyfile', '--config', join(folder, 'container/Caddyfile')]],
];
for (const [program, args] of checkers) {
  const binary = Bun.which(program);
  if (binary === null) console.log(`skip: ${program} is not installed`);
  test.skipIf(binary === null)(`${program} accepts its file`, () => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([binary ?? '', ...args]);
    expect(exitCode, `${stdout.toString()}${stderr.toString()}`).toBe(0);
  });
}

const promtool = Bun.which('promtool');
test.skipIf(promtool === null)('a replica that starts or stops does not count as failing', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'catalog-alerts-')), 'test.json');
  const count = (instance: string, of: string, values: string) => ({
    series: `catalog_http_requests_total{instance="${instance}",method="GET",path="${of}",status="503"}`,
    values,
  });
  const sample = (alert: string, instance: string) => ({
    labels: `{alertname="${alert}",instance="${instance}"}`,
    value: 1,
  });
  const firing = (at: string, ...expected: object[]) => ({
    expr: 'count by (alertname, instance) (ALERTS{alertstate="firing"})',
    eval_time: at,
    exp_samples: expected,
  });
  const failing = sample('CatalogFails', 'failing');
  const rules = { rule_files: [join(folder, 'prometheus/alerts.yaml')], evaluation_interval: '30s' };
  const tests = [
    {
      interval: '30s',
      input_series: [
        count('restarted', '/ready', '0 5 9x20'),
        count('away', '/ready', '0+5x20'),
        count('failing', '/v1/products', '0+5x20'),
      ],
      promql_expr_test: [firing('3m', failing), firing('5m', failing, sample('CatalogIsNotReady', 'away'))],
    },
  ];
  writeFileSync(path, JSON.stringify({ ...rules, tests }));
  const { exitCode, stdout, stderr } = Bun.spawnSync([promtool ?? '', 'test', 'rules', path]);
  rmSync(dirname(path), { recursive: true });
  expect(exitCode, `${stdout.toString()}${stderr.toString()}`).toBe(0);
});

test('systemd does not restart what fails in the same way each time', async () => {
  const lasting = /^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1];
  const wrong = [await runHere(['serve', '--prot'], {}), await runHere(['serve'], { PORT: 'x' })];
  expect(lasting).toBe(wrong.map(({ status }) => status).join(' '));
});

const analyze = Bun.which('systemd-analyze');
test.skipIf(analyze === null)('systemd knows every line of the unit, and finds it well protected', () => {
  const path = join(folder, 'systemd/catalog.service');
  const run = (...args: string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([analyze ?? '', ...args]);
    return { exitCode, text: `${stdout.toString()}${stderr.toString()}` };
  };
  expect(run('verify', path).text).not.toMatch(/Unknown|Failed to parse|ignoring/i);
  expect(run('security', '--offline=yes', '--threshold=20', path)).toMatchObject({ exitCode: 0 });
});
