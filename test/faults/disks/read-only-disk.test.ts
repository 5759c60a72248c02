/**
 * A disk that becomes read-only while the service runs, as a system makes it when the disk fails: writes are refused for
 * that reason, reads continue, and the same process writes again once it can. strace makes the system's calls fail.
 */
import { expect, test } from 'bun:test';
import { createCatalog, createPlace, waitFor } from '../../cli/program.ts';
import { type Call, call } from '../../support/http/http.ts';
import { signIn } from '../../support/service/service.ts';
import { skipped } from '../outcome.ts';

const email = 'admin@test.example';
const secret = 'correct horse battery';

const trace = ['strace', '-f', '-o', '/dev/null', '-e', 'trace=pwrite64,openat'];
const failing = (code: string): string[] => [...trace, '-e', `inject=pwrite64,openat:error=${code}`];
const isPossible = Bun.which('strace') !== null && Bun.spawnSync([...trace, 'true']).exitCode === 0;
if (!isPossible) skipped('a read-only disk', 'strace is not installed, or may not trace');

const reasons: [code: string, status: number, error: string, reason: RegExp][] = [
  ['EROFS', 503, 'DATABASE_READ_ONLY', /catalog\.db is on a file system that is read-only \(EROFS\)/],
  ['EIO', 503, 'DATABASE_UNAVAILABLE', /The disk of \S+catalog\.db fails \(EIO\)/],
  ['ENOSPC', 507, 'STORAGE_FULL', /The disk of \S+catalog\.db is full/],
];

for (const [code, status, error, reason] of reasons) {
  test.skipIf(!isPossible)(`writes that fail with ${code} are refused for that reason`, async () => {
    const place = await createPlace('sqlite', {
      ...{ ADMIN_EMAIL: email, ADMIN_PASSWORD: secret, HOST: '127.0.0.1', LOG_LEVEL: 'error' },
    });
    const child = place.start(['serve', '--port', '0']);
    const log = child.stdout.text();
    try {
      const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
      const token = await signIn(url, email, secret);
      const service = { url, tokens: { admin: token, editor: token, user: token } };
      const ask = (request: Call) => call(service, { as: 'admin', ...request });
      const create: Call = { method: 'POST', path: '/v1/products', body: { name: 'Lamp', price: 1 } };
      const first = await ask(create);
      expect(first.status).toBe(201);

      const tracer = Bun.spawn([...failing(code), '-p', String(child.pid)], { stderr: 'pipe' });
      await waitFor(tracer.stderr, /attached/);
      const refused = await ask(create);
      expect([refused.status, refused.body.error]).toEqual([status, error]);
      expect((await ask({ path: '/v1/products/1' })).body).toEqual(first.body);
      tracer.kill('SIGINT');
      await tracer.exited;

      expect((await ask(create)).status).toBe(201);
      expect((await ask({ path: '/v1/products' })).body.meta.total).toBe(2);
    } finally {
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
      place.remove();
    }
    expect(await log).toMatch(reason);
  });
}

test.skipIf(!isPossible)('a start whose folder cannot be flushed names the file and the reason', async () => {
  const place = await createCatalog('sqlite', { HOST: '127.0.0.1', LOG_LEVEL: 'silent' });
  const wrapper = ['strace', '-f', '-o', '/dev/null', '-e', 'trace=fsync', '-e', 'inject=fsync:error=EROFS'];
  const child = place.start(['serve', '--port', '0'], wrapper);
  expect(await child.stderr.text()).toMatch(
    /^catalog serve: \S+catalog\.db is on a file system that is read-only \(EROFS\); mount it for writing\.\n$/,
  );
  expect(await child.exited).toBe(1);
  place.remove();
});
