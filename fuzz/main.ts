/**
 * `npm run fuzz`: valid, borderline and hostile requests to every operation, made from the document the service
 * publishes. Fails when a response is a 5xx, violates the document, leaks internals, or does not arrive.
 */
import { exitOnSignals, readCommandLine } from '../scripts/command-line.ts';
import { createCluster, throwaway } from '../scripts/tests/postgresql.ts';
import type { DatabaseKind } from '../test/support/service/service.ts';
import { removeTemplates } from '../test/support/service/template.ts';
import { runCampaign } from './campaign.ts';
import { help, readOptions } from './options.ts';

exitOnSignals();
const options = readCommandLine(
  'fuzz',
  () => readOptions(process.argv.slice(2)),
  'see npm run fuzz -- --help',
);
if (options === 'help') {
  console.log(help);
  process.exit(0);
}
const { requests, seed, kinds } = options;
const needsServer = kinds.includes('postgresql') && process.env.TEST_DATABASE_URL === undefined;
const cluster = needsServer ? await createCluster({ settings: throwaway }) : undefined;
if (cluster !== undefined) {
  await cluster.start();
  process.env.TEST_DATABASE_URL = cluster.url;
}
let failed = 0;
for (const kind of kinds) failed += await run(kind);
await removeTemplates();
await cluster?.stop('SIGQUIT');
cluster?.remove();
process.exit(failed === 0 ? 0 : 1);

async function run(kind: DatabaseKind): Promise<number> {
  console.log(`fuzzing on ${kind}, seed ${seed}`);
  const started = performance.now();
  const counts = await runCampaign({ kind, requests, seed, report: line => console.log(line) });
  const seconds = (performance.now() - started) / 1000;
  console.log(counts.table());
  const rate = Math.round(counts.requests() / seconds);
  console.log(`${counts.requests()} requests in ${seconds.toFixed(1)} s (${rate} requests/s)`);
  for (const failure of counts.failures) console.error(`\n${failure}`);
  if (counts.failures.length > 0) {
    console.error(`\n${counts.failures.length} failures on ${kind}; again with:`);
    console.error(`  npm run fuzz -- --database ${kind} --requests ${requests} --seed ${seed}`);
  }
  return counts.failures.length;
}
