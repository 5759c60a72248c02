/** The address a client counts under: one name for every spelling of an address, and none for what is no address. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { normalizeAddress, readClientAddress } from '../../src/http/quota/client-address.ts';
import { superlinearGrowth } from '../support/service/growth.ts';

const forwarded = (value: string) =>
  readClientAddress('192.0.2.1', new Headers({ 'X-Forwarded-For': value }), true);
const port = fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: undefined });
/** Zeros often, so that there is something to abbreviate. */
const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
const groups = fc.array(group, { minLength: 8, maxLength: 8 });

/** A spelling of the address: any one run of zeros abbreviated, any case, leading zeros, a dotted end. */
const spelling = fc
  .record({
    upper: fc.boolean(),
    padded: fc.boolean(),
    dotted: fc.boolean(),
    from: fc.nat(7),
    runs: fc.nat(7),
  })
  .map(({ upper, padded, dotted, from, runs }) => (address: readonly number[]) => {
    const texts = address.map(value => value.toString(16).padStart(padded ? 4 : 1, '0'));
    const [seventh = 0, eighth = 0] = address.slice(6);
    const ends = dotted
      ? [[seventh >> 8, seventh & 255, eighth >> 8, eighth & 255].join('.')]
      : texts.slice(6);
    const parts = [...texts.slice(0, 6), ...ends];
    let to = from;
    while (to < Math.min(from + runs, 6) && address[to] === 0) to++;
    const short =
      to > from ? `${parts.slice(0, from).join(':')}::${parts.slice(to).join(':')}` : parts.join(':');
    return upper ? short.toUpperCase() : short;
  });
const wrapped = fc
  .record({
    port,
    zone: fc.constantFrom('', '%eth0', '%25'),
    brackets: fc.boolean(),
    blank: fc.constantFrom('', ' ', '\t'),
  })
  .map(({ port, zone, brackets, blank }) => (text: string) => {
    const inner = `${text}${zone}`;
    const whole = port !== undefined ? `[${inner}]:${port}` : brackets ? `[${inner}]` : inner;
    return `${blank}${whole}${blank}`;
  });

describe('the address a client counts under', () => {
  test('all addresses of a /64 are one caller, however they are spelled', () => {
    const property = fc.property(groups, groups, spelling, wrapped, (subnet, host, spell, wrap) => {
      const address = [...subnet.slice(0, 4), ...host.slice(4)];
      fc.pre(!(address.slice(0, 5).every(value => value === 0) && address[5] === 0xffff));
      const expected = `${subnet
        .slice(0, 4)
        .map(value => value.toString(16))
        .join(':')}::/64`;
      expect(forwarded(wrap(spell(address)))).toBe(expected);
    });
    fc.assert(property, { numRuns: 3000 });
  });

  test('an IPv4 address is one caller, with or without a port, and in IPv6', () => {
    const property = fc.property(fc.ipV4(), port, spelling, wrapped, (address, number, spell, wrap) => {
      expect(forwarded(number === undefined ? address : `${address}:${number}`)).toBe(address);
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
      expect(forwarded(wrap(spell([0, 0, 0, 0, 0, 0xffff, (a << 8) | b, (c << 8) | d])))).toBe(address);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  test('text that is not an address counts as the address of the connection', () => {
    for (const text of [
      '',
      ',',
      'unknown',
      '_hidden',
      '203.0.113.7:',
      '203.0.113',
      '010.0.0.1:x',
      '::g',
      '[::1',
    ])
      expect([text, forwarded(text)]).toEqual([text, '192.0.2.1']);
    const property = fc.property(fc.stringMatching(/^[ -~]{0,200}$/), text => {
      expect(forwarded(text)).toMatch(/^(\d{1,3}(\.\d{1,3}){3}|([\da-f]{1,4}:){3}[\da-f]{1,4}::\/64)$/);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  test('only the last address counts, and none unless the proxy is trusted', () => {
    expect(forwarded('10.1.1.1, 198.51.100.9:4711')).toBe('198.51.100.9');
    const headers = new Headers({ 'X-Forwarded-For': '10.1.1.1' });
    expect(readClientAddress('::ffff:192.0.2.1', headers, false)).toBe('192.0.2.1');
    expect(readClientAddress(undefined, headers, false)).toBe('unknown');
  });

  test('normalizing an address twice changes nothing', () => {
    fc.assert(
      fc.property(fc.ipV6(), text =>
        expect(normalizeAddress(normalizeAddress(text)?.replace('/64', ''))).toBe(normalizeAddress(text)),
      ),
    );
  });

  test.each(['1', ':', '[', ' '])('the time for a text of many "%s" grows linearly', async character => {
    expect(
      await superlinearGrowth(length => normalizeAddress(character.repeat(length)), 100_000),
    ).toBeUndefined();
  });
});
