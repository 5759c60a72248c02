/** What must hold of the mails after all crashes: each promised mail came, and no other. */
import { expect } from 'bun:test';
import type { Database } from '../../../src/storage/database.ts';
import type { Email } from '../../support/peers/mails.ts';
import type { Aftermath, Shown } from './checks.ts';
import type { Attempt, Ledger } from './clients.ts';
import type { Operation } from './lives.ts';

type Kind = 'invoice' | 'invitation' | 'password' | 'verification';
const kinds: readonly (readonly [Kind, RegExp])[] = [
  ['invoice', /^Invoice (INV-\d{6}) from Catalog$/],
  ['invitation', /^Set your password for shop\.example$/],
  ['password', /^Set a new password for shop\.example$/],
  ['verification', /^Confirm your e-mail address for shop\.example$/],
];

interface Mail {
  readonly kind: Kind;
  readonly to: string;
  /** The number of the attached invoice. */
  readonly number: string | undefined;
  readonly email: Email;
}

interface Now {
  readonly users: readonly Shown[];
  readonly invoices: readonly Shown[];
}

export async function mailsHold(
  database: Database,
  { smtp, ledger, clients }: Pick<Aftermath, 'smtp' | 'ledger' | 'clients'>,
  { users, invoices }: Now,
): Promise<void> {
  const all = mailsOf(smtp.received);
  const to = (kind: Kind, address: string) => all.filter(mail => mail.kind === kind && mail.to === address);

  // People: one invitation for each account created by invitation, one mail to confirm the address for each customer.
  const addresses = new Set<string>(users.map(({ email }) => email));
  expect(all.filter(mail => !addresses.has(mail.to)).map(mail => mail.to)).toEqual([]);
  const isCustomer = (email: string) => clients.some(client => client.email === email);
  for (const { email, id } of users) {
    expect([email, to('invitation', email).length]).toEqual([email, id === 1 || isCustomer(email) ? 0 : 1]);
    expect([email, to('verification', email).length]).toEqual([email, isCustomer(email) ? 1 : 0]);
    const promised = promisedBy(ledger, ['reset', 'forget'], email);
    expectBetween(email, to('password', email).length, promised);
  }

  // Invoices: each mail brings an existing one to its customer, and the invoice records each mail that went out.
  const byNumber = new Map<string, Shown>(invoices.map(invoice => [invoice.number, invoice]));
  const sent = Map.groupBy(all, mail => mail.number ?? '');
  sent.delete('');
  expect([...sent.keys()].filter(number => !byNumber.has(number))).toEqual([]);
  for (const [number, { id, orderId, customer, version, sentAt }] of byNumber) {
    const mails = sent.get(number) ?? [];
    expectBetween(number, mails.length, promisedBy(ledger, ['send'], String(id)));
    expect([number, version, sentAt !== null]).toEqual([number, 1 + mails.length, mails.length > 0]);
    for (const { to: address, email } of mails) {
      expect(address).toBe(customer.email);
      expect(email.text).toContain(`Invoice ${number} for `);
      expect(email.text).toContain(` (order ${orderId}) is attached.`);
      expect(email.attachments.map(({ filename }) => filename)).toEqual([`${number}.pdf`]);
    }
  }
  await tokensHold(database, all, users);
}

/** One mail for each Message-ID: copies must have the same content. */
function mailsOf(received: Aftermath['smtp']['received']): Mail[] {
  const byId = new Map<string, Mail>();
  for (const { to, email } of received) {
    const { messageId = '', subject = '', text } = email;
    const [kind, pattern] = kinds.find(([, known]) => known.test(subject)) ?? [];
    if (kind === undefined || to.length !== 1) throw new Error(`an unknown mail to ${to}: ${subject}`);
    const mail: Mail = { kind, to: to[0] ?? '', number: pattern?.exec(subject)?.[1], email };
    const known = byId.get(messageId);
    const said = known && [known.to, known.email.subject, known.email.text];
    if (said !== undefined) expect([mail.to, subject, text]).toEqual(said);
    byId.set(messageId, mail);
  }
  return [...byId.values()];
}

interface Promised {
  readonly least: number;
  readonly most: number;
}

/** How many mails must have come: at least the acknowledged ones, at most those without a response in addition. */
function promisedBy({ attempts }: Ledger, operations: readonly Operation[], subject: string): Promised {
  const asked = attempts.filter(
    attempt => operations.includes(attempt.operation) && attempt.subject === subject,
  );
  const unknown = ({ answer }: Attempt) => answer === undefined;
  const least = asked.filter(({ answer }) => answer?.status === 202).length;
  return { least, most: least + asked.filter(unknown).length };
}

function expectBetween(what: string, count: number, { least, most }: Promised): void {
  expect({ what, count, isRight: count >= least && count <= most, least, most }).toMatchObject({
    isRight: true,
  });
}

/** Every valid token was sent to its user. */
async function tokensHold({ read, build }: Database, mails: readonly Mail[], users: readonly Shown[]) {
  const sent = new Map<string, string>();
  for (const { to, email } of mails) {
    const token = /[?&]token=([\w-]+)/.exec(email.text ?? '')?.[1];
    if (token !== undefined) sent.set(new Bun.CryptoHasher('sha256').update(token).digest('hex'), to);
  }
  const rows = await read.all(build.selectFrom('user_tokens').select(['user_id', 'token_hash']).compile());
  const emails = new Map<number, string>(users.map(({ id, email }) => [id, email]));
  expect(rows.filter(row => sent.get(row.token_hash) !== emails.get(row.user_id))).toEqual([]);
  expect(rows.length).toBeGreaterThan(0);
}
