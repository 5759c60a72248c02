/** Errors say what is wrong in words that help the programs that send it: where JSON breaks off, and what was sent. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { call } from '../../support/http/http.ts';
import { writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const quotes = 'texts need double quotation marks, and other words are only true, false and null';

describeOnDatabases('explained errors on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const refuse = (body: string) =>
    writesNothing(service, async () => {
      const headers = { 'Content-Type': 'application/json' };
      const refused = await call(service, {
        method: 'POST',
        path: '/v1/products',
        as: 'editor',
        headers,
        body,
      });
      expect(refused.status).toBe(400);
      return refused.body;
    });

  test.each([
    ['{"name":"Lamp",\n "price":1,\n}', 'line 3, column 1', 'the comma before } is one too many'],
    ['{"name":"Lamp","tags":["a",]}', 'line 1, column 28', 'the comma before ] is one too many'],
    ['{"name":"Lamp","price":None}', 'line 1, column 24', quotes],
    ['{"name":\'Lamp\'}', 'line 1, column 9', quotes],
    ['{name:"Lamp"}', 'line 1, column 2', 'names need double quotation marks'],
    ['{"name" "Lamp"}', 'line 1, column 9', 'a colon must follow the name'],
    ['{"name":"Lamp" "price":1}', 'line 1, column 16', 'a comma or } must follow'],
    ['{"price":.5}', 'line 1, column 10', 'a number begins with a digit, or with - and a digit'],
    ['{"price":,}', 'line 1, column 10', 'a value must follow'],
    ['{"name":"Lamp",,}', 'line 1, column 16', 'a name must follow'],
    [
      '{"name":"La\tmp"}',
      'line 1, column 12',
      'a line break or other control character in a text must be escaped, as \\n',
    ],
    ['{"name":"C:\\lamp"}', 'line 1, column 12', 'no such escape exists in JSON; a \\ is written \\\\'],
    ['{"name":"Lamp}', 'line 1, column 9', 'the text that begins here does not end'],
    ['{"name":"Lamp"', 'line 1, column 15', 'it ends too early'],
    ['{"name":"Lamp"}{', 'line 1, column 16', 'something follows its end'],
  ])('%s: the place and the reason', async (body, place, reason) => {
    const { error, message } = await refuse(body);
    expect([error, message]).toEqual([
      'MALFORMED_JSON',
      `The body is not well-formed JSON (${place}): ${reason}.`,
    ]);
  });

  test('a long body is not searched for its error', async () => {
    const { message } = await refuse(`{"name":"${'x'.repeat(300_000)}",}`);
    expect(message).toBe('The body is not well-formed JSON.');
  });

  test('the error for a password without quotation marks does not repeat it', async () => {
    const { message } = await refuse('{"password":hunter2correct}');
    expect(message).not.toContain('hunter2');
  });

  test.each([
    ['price', '"19.99"', 'must be a number, not a string'],
    ['price', 'true', 'must be a number, not a boolean'],
    ['price', '1e999', 'must be a number, not Infinity'],
    ['name', 'null', 'must be a string, not null'],
    ['tags', '{"1":"a"}', 'must be an array, not an object'],
    ['attributes', '[]', 'must be an object, not an array'],
    ['stock', '[]', 'must be an object, not an array'],
  ])('%s: %s: the error names what was sent', async (field, value, message) => {
    const members = new Map([
      ['name', '"Lamp"'],
      ['price', '1'],
      [field, value],
    ]);
    const { details } = await refuse(`{${[...members].map(([name, text]) => `"${name}":${text}`).join()}}`);
    expect(details).toEqual([{ field, pointer: `#/${field}`, code: 'type', message }]);
  });

  test('half a piece: the number is not called anything else than one', async () => {
    const { details } = await refuse('{"name":"Lamp","price":1,"stock":{"onHand":1.5}}');
    expect(details).toEqual([
      { field: 'stock.onHand', pointer: '#/stock/onHand', code: 'type', message: 'must be an integer' },
    ]);
  });

  test.each(['2026-01-31T12:00:00', '2026-01-31T12:00Z', '2026-01-31 12:00:00Z', '2026-01-31T12:00:00+0100'])(
    'since=%s: the error says which form a date-time has',
    async moment => {
      const path = `/v1/events?since=${encodeURIComponent(moment)}`;
      const { status, body } = await call(service, { path, as: 'admin' });
      expect([status, body.message]).toEqual([
        400,
        expect.stringMatching(
          /^since: must be a date-time with seconds and an offset .* 2026-01-31T12:00:00Z/,
        ),
      ]);
    },
  );

  test.each(['/products', '/api/v1/products', '/v2/products'])(
    '%s: the error says where to begin',
    async path => {
      const { status, body } = await call(service, { path, as: 'user' });
      expect([status, body.error]).toEqual([404, 'NOT_FOUND']);
      expect(body.message).toContain('GET / links to the versions');
    },
  );

  test.each(['', 'null', 'undefined'])('cursor=%s: the error says how to begin', async cursor => {
    const path = `/v1/products?limit=1&cursor=${cursor}`;
    const { status, body } = await call(service, { path, as: 'user' });
    expect([status, body.error]).toEqual([400, 'INVALID_CURSOR']);
    expect(body.message).toEndWith('leave it out to read the first page.');
  });
});
