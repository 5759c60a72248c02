/** A disk that flushes slowly, as network disks do: writers wait for it, readers do not. */
import { expect, test } from 'bun:test';
import { createPlace, waitFor } from '../../cli/program.ts';
import { call } from '../../support/http/http.ts';
import { signIn } from '../../support/service/service.ts';

const flushMs = 40;
/** Runs the service under strace, which delays its flushes. */
const slowly = [
  ...['strace', '-f', '-o', '/dev/null', '--seccomp-bpf', '-e', 'trace=fdatasync,fsync'],
  ...['-e', `inject=fdatasync,fsync:delay_enter=${flushMs * 1000}`],
];
const email = 'admin@test.example';
const secret = 'correct horse battery';

/** Whether this system has strace and lets it trace processes of the same user. */
const isPossible = Bun.which('strace') !== null && Bun.spawnSync([...slowly, 'true']).exitCode === 0;
if (!isPossible) console.log('skipped: a slow disk: strace is not installed, or may not trace');

test.skipIf(!isPossible)('reads wait for no flush, and each write for its own', async () => {
  const place = await createPlace('sqlite', {
    ...{ ADMIN_EMAIL: email, ADMIN_PASSWORD: secret, HOST: '127.0.0.1', RATE_LIMIT: '1000000' },
  });
  const tracer = place.start(['serve', '--port', '0', '--sample'], slowly);
  try {
    const [, url = ''] = await waitFor(tracer.stderr, /ready at (http:\S+)/);
    const token = await signIn(url, email, secret);
    const service = { url, tokens: { admin: token, editor: token, user: token } };
    let isWriting = true;
    const writes: number[] = [];
    const writing = (async () => {
      while (isWriting) {
        const started = performance.now();
        const body = { price: writes.length + 1 };
        const { status } = await call(service, {
          as: 'admin',
          method: 'PATCH',
          path: '/v1/products/1',
          body,
        });
        expect(status).toBe(200);
        writes.push(performance.now() - started);
      }
    })();
    const reads: number[] = [];
    while (writes.length < 10) {
      const started = performance.now();
      const { status } = await call(service, {
        as: 'admin',
        path: `/v1/products/${2 + (reads.length % 200)}`,
      });
      expect(status).toBe(200);
      reads.push(performance.now() - started);
    }
    isWriting = false;
    await writing;
    const median = reads.toSorted((a, b) => a - b)[reads.length >> 1] ?? Number.NaN;
    console.log(
      `slow disk: ${reads.length} reads beside ${writes.length} writes, ${median.toFixed(1)} ms at the median`,
    );
    // No write is acknowledged before its flush, and the median read takes less than half of one.
    expect(Math.min(...writes)).toBeGreaterThan(flushMs);
    expect(median).toBeLessThan(flushMs / 2);
    expect(reads.length).toBeGreaterThan(writes.length * 4);
  } finally {
    // strace does not pass signals on, so the signal goes to the service, which is its child.
    const children = Bun.spawnSync(['pgrep', '-P', String(tracer.pid)])
      .stdout.toString()
      .trim();
    process.kill(Number(children), 'SIGTERM');
    await tracer.exited;
    place.remove();
  }
});
