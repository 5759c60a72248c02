/** Weather: from a provider that may be slow, wrong, silent or dead, and without a provider. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { addKey, type KeyHeaders } from '../support/data/people.ts';
import { call } from '../support/http/http.ts';
import { type FakeProvider, type Mood, startProvider } from '../support/peers/weather-provider.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const minute = 60_000;

describeOnDatabases('weather on %s', kind => {
  let provider: FakeProvider;
  let service: TestService;
  let headers: KeyHeaders;
  beforeEach(async () => {
    provider = startProvider();
    service = await startTestService(kind, { WEATHER_URL: provider.url, GEOCODING_URL: provider.url });
    headers = await addKey(service, 'data:read');
  });
  afterEach(async () => {
    provider.release();
    await service.stop();
    await provider.die();
  });

  const ask = (city: string) =>
    call(service, {
      path: `/v1/data/weather?city=${encodeURIComponent(city)}`,
      headers,
    });

  const observed = {
    city: 'Berlin',
    temperature: 4.5,
    unit: 'celsius',
    conditions: 'rain',
    observedAt: '2026-01-15T09:15:00.000Z',
    source: 'open-meteo',
    stale: false,
  };

  test('the key is taken from the header or the query, and never logged', async () => {
    const { 'X-API-Key': key } = headers;
    const header = await ask('Berlin');
    expect([header.status, header.body]).toEqual([200, observed]);
    const query = await call(service, { path: `/v1/data/weather?city=Berlin&api_key=${key}` });
    expect([query.status, query.body]).toEqual([200, observed]);
    expect(JSON.stringify(service.log())).not.toContain(key);
  });

  test('a caller without a key with the scope is refused', async () => {
    const path = '/v1/data/weather?city=Berlin';
    const other = await addKey(service, 'products:read');
    expect((await call(service, { path })).status).toBe(401);
    expect((await call(service, { path, headers: { 'X-API-Key': 'ck_wrong' } })).status).toBe(401);
    expect((await call(service, { path, headers: other })).status).toBe(403);
    const person = await call(service, { path, as: 'admin' });
    expect([person.status, person.body.message]).toEqual([403, 'This operation accepts API keys only.']);
    expect(provider.requests).toEqual([]);
  });

  test('a token sent beside the key, valid or not, is ignored', async () => {
    const path = '/v1/data/weather?city=Berlin';
    const wrong = { authorization: 'Bearer wrong' };
    const { 'X-API-Key': key } = headers;
    expect((await call(service, { path, as: 'user', headers })).status).toBe(200);
    expect((await call(service, { path, headers: { ...headers, ...wrong } })).status).toBe(200);
    expect((await call(service, { path: `${path}&api_key=${key}`, as: 'user' })).status).toBe(200);
    const refused = await call(service, { path, as: 'user', headers: { 'X-API-Key': 'ck_wrong' } });
    expect([refused.status, refused.body.message]).toEqual([
      401,
      'The API key is wrong, was revoked, or has expired.',
    ]);
    // Elsewhere the token counts.
    expect((await call(service, { path: '/v1/me', as: 'user', headers })).status).toBe(200);
  });

  test.each(['', '%20', 'x'.repeat(101)])('city=%s is refused', async city => {
    const path = `/v1/data/weather?city=${city}`;
    const response = await call(service, { path, headers });
    expect([response.status, response.body.error, response.body.details[0].field]).toEqual([
      400,
      'VALIDATION_FAILED',
      'city',
    ]);
  });

  test('an observation is cached for ten minutes, however its city is written', async () => {
    await ask('Berlin');
    for (const city of ['berlin', '  BERLIN ', 'Bérlin']) expect((await ask(city)).body).toEqual(observed);
    expect(provider.requests).toEqual(['/v1/forecast']);
    provider.temperature = 7;
    service.clock.advance(11 * minute);
    expect((await ask('Berlin')).body.temperature).toBe(7);
  });

  test('names of cities that differ in marks which make other letters are different names', async () => {
    for (const [city, name] of [
      ['パリ', 'Paris'],
      ['バリ', 'Bali'],
    ] as const)
      expect((await ask(city)).body.city).toBe(name);
    for (const city of ['ﾊﾞﾘ', 'ハ\u3099リ']) expect((await ask(city)).body.city).toBe('Bali');
    expect((await ask('ハリ')).status).toBe(404);
  });

  test('a city that is not in the built-in list is looked up with the provider once', async () => {
    const found = await ask('Smalltown');
    expect([found.status, found.body.city]).toEqual([200, 'Smalltown']);
    service.clock.advance(11 * minute);
    await ask('smalltown');
    expect(provider.requests).toEqual(['/v1/search', '/v1/forecast', '/v1/forecast']);
  });

  test('an unknown city is 404, and is not requested again', async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      const response = await ask('Atlantis');
      expect([response.status, response.body.error]).toEqual([404, 'NOT_FOUND']);
    }
    expect(provider.requests).toEqual(['/v1/search']);
  });

  test('a city that cannot be looked up while the provider fails is 404, and is requested again afterwards', async () => {
    provider.mood = 'failing';
    for (let attempt = 0; attempt < 4; attempt++) {
      const { status, body } = await ask('Smalltown');
      expect([status, body.error, body.message]).toEqual([
        404,
        'NOT_FOUND',
        '"Smalltown" is not in the built-in list of cities, and the weather provider, which knows more, cannot be reached. Retry later.',
      ]);
    }
    provider.mood = 'good';
    service.clock.advance(31_000);
    expect((await ask('Smalltown')).status).toBe(200);
    const { status, body } = await ask('Atlantis');
    expect([status, body.message]).toEqual([404, 'No city is known by the name "Atlantis".']);
  });

  test('concurrent requests for one city make one request to the provider', async () => {
    provider.mood = 'held';
    const responses = Array.from({ length: 20 }, () => ask('Berlin'));
    await provider.held();
    provider.release();
    for (const response of await Promise.all(responses)) expect(response.body).toEqual(observed);
    expect(provider.requests).toEqual(['/v1/forecast']);
  });

  const moods: readonly Mood[] = ['failing', 'nonsense', 'misdated', 'endless'];
  test.each(moods)('when the provider is %s, the last observation is returned, marked stale', async mood => {
    await ask('Berlin');
    provider.mood = mood;
    service.clock.advance(11 * minute);
    const response = await ask('Berlin');
    expect([response.status, response.body]).toEqual([200, { ...observed, stale: true }]);
  });

  test('when the provider is down, built-in and cached cities are returned, and unknown cities are 404', async () => {
    await ask('Smalltown');
    await provider.die();
    const known = await ask('Berlin');
    expect(known.body).toMatchObject({ city: 'Berlin', source: 'bundled', stale: false, unit: 'celsius' });
    expect(known.body.temperature).toBeWithin(-10, 10);
    expect((await ask('Nowhereville')).status).toBe(404);
    service.clock.advance(11 * minute);
    expect((await ask('Smalltown')).body).toMatchObject({ city: 'Smalltown', stale: true });
  });

  test('a city that was found but never observed is 503 with Retry-After', async () => {
    provider.mood = 'held';
    const first = ask('Smalltown');
    await provider.held();
    // The place is found; every later response is an error.
    provider.release();
    provider.mood = 'failing';
    const response = await first;
    expect([response.status, response.body.error]).toEqual([503, 'WEATHER_UNAVAILABLE']);
    expect(response.headers.get('Retry-After')).toBe('30');
  });

  test('after three failures the provider gets no request for 30 seconds, then one', async () => {
    provider.mood = 'failing';
    for (const city of ['Berlin', 'Paris', 'Rome', 'Madrid', 'Oslo']) {
      expect((await ask(city)).body.source).toBe('bundled');
    }
    expect(provider.requests).toHaveLength(3);
    const warnings = service.log().filter(({ level }) => level === 'warn');
    expect(warnings).toHaveLength(1);
    service.clock.advance(31_000);
    await ask('Lisbon');
    await ask('Vienna');
    expect(provider.requests).toHaveLength(4);
    service.clock.advance(31_000);
    provider.mood = 'good';
    expect((await ask('Berlin')).body).toEqual(observed);
    expect((await ask('Paris')).body.source).toBe('open-meteo');
  });

  test('a late success that ends the pause is logged', async () => {
    provider.mood = 'held';
    const late = ask('Berlin');
    await provider.held();
    provider.mood = 'failing';
    for (const city of ['Paris', 'Rome', 'Madrid']) expect((await ask(city)).body.source).toBe('bundled');
    provider.mood = 'good';
    provider.release();
    expect((await late).body).toEqual(observed);
    expect((await ask('Paris')).body.source).toBe('open-meteo');
    const messages = service.log().map(({ message }) => message);
    expect(messages).toContain('the weather provider is responding again');
  });

  test('a clock that is set back prolongs neither the cache nor the pause after failures', async () => {
    await ask('Berlin');
    expect((await ask('Atlantis')).status).toBe(404);
    provider.temperature = 7;
    service.clock.advance(-60 * minute);
    expect((await ask('Berlin')).body.temperature).toBe(7);
    const before = provider.requests.length;
    expect((await ask('Atlantis')).status).toBe(404);
    expect(provider.requests).toHaveLength(before + 1);
    provider.mood = 'failing';
    for (const city of ['Paris', 'Rome', 'Madrid']) await ask(city);
    provider.mood = 'good';
    expect((await ask('Paris')).body.source).toBe('bundled');
    service.clock.advance(-60 * minute);
    expect((await ask('Paris')).body.source).toBe('open-meteo');
  });
});
