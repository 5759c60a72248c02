/** Almost valid JSON, and unusual but valid JSON: changes to the text that schemas cannot describe. */
import fc from 'fast-check';

type Change = (text: string) => string | Uint8Array;

const inFront =
  (member: string): Change =>
  text =>
    text.startsWith('{') ? `{${member}${text === '{}' ? '' : ','}${text.slice(1)}` : `[${text},{${member}}]`;
const numberAs =
  (replacement: string): Change =>
  text =>
    text.replace(/-?\d+(\.\d+)?/, replacement);
const firstName = (text: string) => /"([^"]*)":/.exec(text)?.[1] ?? 'name';

const changes: readonly Change[] = [
  () => '',
  () => ' ',
  text => `\ufeff${text}`,
  text => text.slice(0, -1),
  text => `${text}${text}`,
  text => `${text},`,
  text => text.replaceAll('"', "'"),
  text => `/**/${text}`,
  text => Buffer.from(text, 'utf16le'),
  text =>
    Buffer.concat([Buffer.from(text.slice(0, 5)), Buffer.from([0x80, 0xff]), Buffer.from(text.slice(5))]),
  text => Buffer.concat([Buffer.from(text), Buffer.from([0])]),
  text => `\r\n\t ${text} \n`,
  numberAs('1e400'),
  numberAs('-1e400'),
  numberAs('1E-400'),
  numberAs('NaN'),
  numberAs('Infinity'),
  numberAs('-0'),
  numberAs('01'),
  numberAs('1.'),
  numberAs('0x10'),
  numberAs('9'.repeat(400)),
  numberAs(`0.${'1'.repeat(400)}`),
  inFront('"__proto__":{"admin":true}'),
  inFront('"constructor":{"prototype":{"admin":true}}'),
  inFront('"":1'),
  inFront('"role":"admin","id":1,"ownerId":1,"version":-1'),
  inFront(`"x":${'['.repeat(63)}${']'.repeat(63)}`),
  inFront(`"x":${'['.repeat(20_000)}${']'.repeat(20_000)}`),
  inFront(`"x":"${'\\u0000'.repeat(1000)}"`),
  inFront(`"x":"${'y'.repeat(1_048_576)}"`),
  inFront(`"x":[${'0,'.repeat(50_000)}0]`),
  text => inFront(`"${firstName(text)}":null`)(text),
  text => `${text.slice(0, -1)},"${firstName(text)}":{}}`,
  text => text.replace(/"([^"\\]{2,})"/, '"\\ud83d$1"'),
  text => text.replace(/":"/, '":"\\u0000'),
  text => text.replace(/":"/, '":"\u0001'),
];

export function textsOf(text: string): fc.Arbitrary<Uint8Array> {
  return fc.constantFrom(...changes).map(change => {
    const changed = change(text);
    return typeof changed === 'string' ? new TextEncoder().encode(changed) : new Uint8Array(changed);
  });
}
