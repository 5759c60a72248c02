/** Messages about unusable settings: the name, the rule, the value unless it may be secret, and the default. */
import { expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { settings } from '../../src/settings/index.ts';
import { call } from '../support/http/http.ts';
import { startTestService } from '../support/service/service.ts';
import { runHere } from './here.ts';
import { createPlace, waitFor } from './program.ts';

/** The message of a command that reads its settings before anything else. */
async function complain(environment: Readonly<Record<string, string>>, expected = 78): Promise<string> {
  const { status, out, err } = await runHere(['keys', 'list'], environment);
  expect([status, out]).toEqual([expected, '']);
  return err;
}

test.each([
  ['PORT', 'abc', 'must be a number, not "abc"; default 3000'],
  ...['0x4801', '1e3', '+5', '3000.'].map(
    value => ['PORT', value, `must be a number, not "${value}"; default 3000`] as const,
  ),
  ['PORT', '1.5', 'must be an integer, not "1.5"; default 3000'],
  ['PORT', '70000', 'must be 65535 or less, not "70000"; default 3000'],
  ['DATABASE_POOL', '2', 'must be 4 or more, not "2"; default 10'],
  ['DEFAULT_CURRENCY', 'euro', 'must be three capital letters (ISO 4217), not "euro"; default EUR'],
  ['INVOICE_TIME_ZONE', 'Berlin', 'must be a time zone such as Europe/Berlin, not "Berlin"; default UTC'],
  ['LOG_LEVEL', 'loud', 'must be one of debug, info, warn, error, silent, not "loud"; default info'],
  ['ADMIN_EMAIL', 'ada', 'must be an e-mail address, not "ada"'],
  ['BASE_URL', 'shop', 'must be an address of http or https, not "shop"'],
  ['VERIFY_URL', 'ftp://a.example', 'must be an address of http or https, not "ftp://a.example"'],
  [
    'CORS_ORIGINS',
    'https://a.example, b.example',
    'must be only a scheme and a host, such as https://shop.example, not "b.example"',
  ],
  ['CORS_ORIGINS', '*', '* is not an origin: leave the setting unset to allow any'],
  ['CORS_ORIGINS', 'https://*.shop.example', '* does not stand for any part of an origin: list each of them'],
  [
    'MAIL_FROM',
    'Shop',
    'must be an e-mail address, or a name and the address in angle brackets: Shop <shop@shop.example>, not "Shop"; default Catalog <catalog@localhost>',
  ],
  [
    'GEOCODING_URL',
    'https://geo.example#',
    'must be an address without query and fragment, not "https://geo.example#"; default https://geocoding-api.open-meteo.com',
  ],
  [
    'STRIPE_URL',
    'stripe',
    'must be an address of http or https, not "stripe"; default https://api.stripe.com',
  ],
  [
    'STRIPE_URL',
    'https://stripe.example/v1',
    'must be only a scheme and a host, not "https://stripe.example/v1"; default https://api.stripe.com',
  ],
  [
    'SUNSET_V1',
    'soon',
    'must be a date such as 2027-01-31, or a moment such as 2027-01-31T12:00:00Z, not "soon"',
  ],
  ['MIGRATION_TIMEOUT', 'x'.repeat(80), `must be a number, not "${'x'.repeat(60)}…"; default 600`],
] as const)('%s=%s is refused', async (name, value, rule) => {
  expect(await complain({ [name]: value })).toBe(`catalog: setting ${name}: ${rule}\n`);
});

const key =
  'must be at least 32 characters long, for HS256 (RFC 7518 section 3.2): openssl rand -base64 48 makes one';
const smtp = 'must be smtp://user:password@host:port, or smtps://, with nothing after the port';
const encoded = 'needs % in user and password written as %25, @ as %40, / as %2F, ? as %3F, # as %23';
const ascii = 'must have only ASCII characters, since it is sent in a header';
const stripeKey = 'must be a secret or restricted key of Stripe: sk_… or rk_…';

test.each([
  ['JWT_SECRET', 'geheim', key],
  ['JWT_PREVIOUS_SECRETS', `${'a'.repeat(32)},geheim`, `entry 2 ${key}`],
  ['ADMIN_PASSWORD', 'geheim', 'must be at least 10 characters long'],
  ['METRICS_TOKEN', 'geheim', 'must be at least 16 characters long'],
  ['METRICS_TOKEN', 'geheim-für-Messungen', ascii],
  ['STRIPE_SECRET_KEY', 'geheim', stripeKey],
  // As pages show the beginning of a key.
  ['STRIPE_SECRET_KEY', 'sk_live_geheim…', ascii],
  ['STRIPE_SECRET_KEY', 'pk_live_geheim', stripeKey],
  ['STRIPE_SECRET_KEY', 'whsec_geheim', stripeKey],
  [
    'STRIPE_WEBHOOK_SECRET',
    'sk_live_geheim',
    'must be the signing secret of a webhook endpoint of Stripe: whsec_…',
  ],
  ['SMTP_URL', 'http://shop:geheim@mail.example', smtp],
  ['SMTP_URL', 'mail.example:587', smtp],
  ['SMTP_URL', 'smtp://mail.example:mail', smtp],
  ['SMTP_URL', 'smtp://shop:geheim@mail.example:587/?secure=true', smtp],
  ['SMTP_URL', 'smtp://shop@shop.example:geheim@mail.example', encoded],
  ['SMTP_URL', 'smtp://shop:ge/heim@mail.example', encoded],
  ['SMTP_URL', 'smtp://shop:ge#heim@mail.example', encoded],
  ['SMTP_URL', 'smtp://shop:geheim%@mail.example', encoded],
  ['SMTP_URL', 'smtp://shop:geheim%E4@mail.example', encoded],
  ['MEDIA_URL', 'key:geheim', 'must be s3://bucket/prefix?endpoint=https://…, or file:///folder'],
  ...['ge/heim', '/geheim', '12/geheim', 'ge#heim', 'ge?heim'].map(
    secret =>
      [
        'MEDIA_URL',
        `s3://key:${secret}@bucket/media`,
        encoded.replace('user and password', 'the key'),
      ] as const,
  ),
  [
    'BASE_URL',
    'https://shop.example/geheim?',
    'must be an address without credentials, query, fragment and /v1',
  ],
  [
    'BASE_URL',
    'https://shop:geheim@shop.example',
    'must be an address without credentials, query, fragment and /v1',
  ],
  [
    'WEATHER_URL',
    'https://weather.example/?key=geheim',
    'must be an address without query and fragment; default https://api.open-meteo.com',
  ],
  [
    'WEATHER_URL',
    'weather.example?key=geheim',
    'must be an address of http or https; default https://api.open-meteo.com',
  ],
])('%s=%s is refused without showing the value', async (name, value, rule) => {
  expect(await complain({ [name]: value })).toBe(`catalog: setting ${name}: ${rule}\n`);
});

test.each([
  'smtp://mail.example',
  'smtps://shop%40shop.example:ge%2Fheim@mail.example:465/',
  'SMTP://:geheim@[::1]:25',
])('SMTP_URL=%s is accepted', async value => {
  const settled = { SMTP_URL: value, DATA_DIR: '/nowhere' };
  expect(await complain(settled, 1)).toStartWith('catalog keys: there is no database in /nowhere ');
});

test.each(['sk_live_x', 'rk_test_x'])('STRIPE_SECRET_KEY=%s is accepted', async value => {
  const settled = { STRIPE_SECRET_KEY: value, STRIPE_WEBHOOK_SECRET: 'whsec_x', DATA_DIR: '/nowhere' };
  expect(await complain(settled, 1)).toStartWith('catalog keys: there is no database in /nowhere ');
});

test.each(['', 'short\n'])(
  'a secret that was cut off (%j) is not replaced, and the start reports what to restore',
  async text => {
    const folder = mkdtempSync(join(tmpdir(), 'catalog-secret-'));
    const file = join(folder, 'jwt-secret');
    writeFileSync(file, text, { mode: 0o600 });
    const { status, out, err } = await runHere(['serve', '--port', '0'], { DATA_DIR: folder });
    rmSync(folder, { recursive: true });
    expect([status, out]).toEqual([1, '']);
    const said = `catalog: setting DATA_DIR: ${file} holds no usable secret: restore it from your backup. Without a backup, `;
    expect(err).toContain(said);
  },
);

test('a secret that cannot be read is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-secret-'));
  const file = join(folder, 'jwt-secret');
  mkdirSync(file);
  const { status, out, err } = await runHere(['serve', '--port', '0'], { DATA_DIR: folder });
  rmSync(folder, { recursive: true });
  expect([status, out]).toEqual([1, '']);
  expect(err).toStartWith(`catalog: setting DATA_DIR: cannot read ${file}: EISDIR`);
});

test('every default is a valid value, and the help names it', async () => {
  const { out } = await runHere(['--help'], {});
  for (const [name, setting] of Object.entries(settings)) {
    const usual = 'default' in setting ? setting.default : undefined;
    expect([name, setting.schema.safeParse(usual).success]).toEqual([name, true]);
    const line = out.split('\n').find(one => one.startsWith(`  ${name} `));
    expect(line).toEndWith(usual === undefined ? setting.help : `${setting.help} (${usual})`);
  }
});

test('a currency is refused with the message of the API', async () => {
  const service = await startTestService('sqlite');
  const { body } = await call(service, {
    method: 'POST',
    path: '/v1/products',
    as: 'admin',
    body: { name: 'Lamp', price: 1, currency: 'euro' },
  });
  await service.stop();
  const [{ message }] = body.details;
  expect(await complain({ DEFAULT_CURRENCY: 'euro' })).toContain(`: ${message}, not "euro";`);
  const { err } = await runHere(['import', 'any.csv', '--currency', 'euro'], {});
  expect(err).toStartWith(`catalog import: --currency ${message}, not "euro"; see `);
});

const hasIpv6 = Object.values(networkInterfaces()).some(addresses =>
  addresses?.some(({ address }) => address === '::1'),
);

test.skipIf(!hasIpv6).each(['::', '[::]', '::1', '[::1]'])(
  'HOST=%s: the address that is shown can be requested',
  async host => {
    const place = await createPlace('sqlite', { HOST: host });
    const child = place.start(['serve', '--port', '0']);
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    place.remove();
  },
);

test('variables with nearly the name of a setting are named at the start, those of other programs are not', async () => {
  const mistyped = { PROT: '8080', invoice_seller: 'A', SMTP_URI: 'smtp://mail.example', RATELIMIT: '5' };
  const twice = { DATABSE_URI: 'postgres://database.example/shop' };
  const ofSystem = { HOME: '/home/of-the-test', HOSTNAME: 'shop', TERM: 'xterm', CATALOG_PORT: '80' };
  const ofHost = { REDIS_URL: 'redis://cache', AMQP_URL: 'amqp://queue', SITE_URL: 'https://shop.example' };
  // DATA_DIR itself is set too.
  const ofOthers = {
    ...ofSystem,
    ...ofHost,
    DATA_DIRS: '/a:/b',
    DATABASE_PORT: '5432',
    DATABASE_SSL: 'true',
    SMTP_SSL: 'true',
  };
  const place = await createPlace('sqlite', { ...mistyped, ...twice, ...ofOthers });
  const child = place.start(['serve', '--port', '0']);
  await waitFor(child.stderr, /ready at/);
  child.kill('SIGTERM');
  const lines = (await child.stdout.text()).split('\n').filter(line => line.includes('is ignored'));
  expect(lines.map(line => JSON.parse(line))).toEqual(
    [
      'PROT PORT',
      'invoice_seller INVOICE_SELLER',
      'SMTP_URI SMTP_URL',
      'RATELIMIT RATE_LIMIT',
      'DATABSE_URI DATABASE_URL',
    ].map(names => {
      const [given, setting] = names.split(' ');
      const message = `the variable ${given} is ignored, since no setting has this name; ${setting} has`;
      return expect.objectContaining({ level: 'warn', message });
    }),
  );
  expect(await child.exited).toBe(0);
  place.remove();
});

test.each([
  [
    'METRICS_TOKEN',
    '"a token in quotation marks"',
    'the value of METRICS_TOKEN begins and ends with quotation marks',
  ],
  ['INVOICE_SELLER', " 'Lamps & More' ", 'the value of INVOICE_SELLER begins and ends with quotation marks'],
  ['INVOICE_SELLER', `"Lamps" & 'More'`, undefined],
  ['SMTP_URL', 'smtp://a:b@mail.example:465', 'SMTP_URL has the port 465 with smtp://'],
  ['SMTP_URL', 'smtps://mail.example:587/', 'SMTP_URL has the port 587 with smtps://'],
  ['SMTP_URL', 'smtps://mail.example:465', undefined],
  ['SMTP_URL', 'smtp://mail.example', undefined],
])('the start warns of %s=%s if it is probably a mistake', async (name, value, says) => {
  const place = await createPlace('sqlite', { [name]: value, LOG_LEVEL: 'warn' });
  const child = place.start(['serve', '--port', '0']);
  await waitFor(child.stderr, /ready at/);
  child.kill('SIGTERM');
  const lines = (await child.stdout.text()).split('\n').filter(line => line !== '');
  const messages = lines.map(line => JSON.parse(line).message);
  expect(messages).toEqual(says === undefined ? [] : [expect.stringContaining(says)]);
  expect(await child.exited).toBe(0);
  place.remove();
});
