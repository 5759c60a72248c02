/** `catalog users`: lets an operator on the machine manage the people who may sign in. */
import { randomBytes } from 'node:crypto';
import { createCause, createCommandOutbox } from '../events/outbox.ts';
import { roles } from '../http/access.ts';
import { text } from '../http/schema.ts';
import { createKnownAddresses } from '../resources/auth/known-addresses.ts';
import { hashPassword } from '../resources/auth/passwords.ts';
import { createSessionStore } from '../resources/auth/store.ts';
import { createMailTokens } from '../resources/users/mail-tokens.ts';
import { leavesNoAdministrator } from '../resources/users/rules.ts';
import { email as emailSchema, newPassword } from '../resources/users/schema.ts';
import { createUserStore, type StoredUser, toUser, type UserStore } from '../resources/users/store.ts';
import { type Database, StorageError, type Transaction } from '../storage/database.ts';
import { runWithDatabase } from './database.ts';
import {
  escapeUnprintable,
  formatDate,
  formatTable,
  printDone,
  printRead,
  printSecret,
} from './terminal/index.ts';
import {
  type Command,
  parse,
  parseChoiceOption,
  parseValue,
  refuseExtraArguments,
  requireOnePositional,
  requireOption,
  runAction,
  UsageError,
} from './usage.ts';

export const command: Command = {
  help: `Usage: catalog users create --email EMAIL --name NAME --role ROLE [--password-stdin]
       catalog users list
       catalog users set-password EMAIL [--password-stdin]
       catalog users set-role EMAIL ROLE

  create        creates a user; e-mail addresses are unique without regard to case
  list          lists all users
  set-password  sets a new password and ends all sessions of the user
  set-role      changes what the user may do and ends all sessions; the last administrator cannot be demoted

  ROLE              admin (everything), editor (writes the catalog) or user (reads it)
  --password-stdin  reads the password from the first line of standard input, 10 to 200 characters; without it
                    one is generated and shown once

Access tokens end with their session: at once for writes, within half a minute for reads.

Exit status: 0 done; 1 the command failed and changed nothing, or what it changed could not be shown, and the message
says so; 2 the command line is wrong.`,

  run: args => runAction({ create, list, 'set-password': setPassword, 'set-role': setRole }, args),
};

async function create(args: string[]): Promise<number> {
  const { values } = parse(args, {
    email: { type: 'string' },
    name: { type: 'string' },
    role: { type: 'string' },
    'password-stdin': { type: 'boolean' },
  });
  const email = parseValue(emailSchema, requireOption(values.email, '--email').trim(), '--email');
  const name = parseValue(text(200), requireOption(values.name, '--name'), '--name');
  const role = parseChoiceOption(requireOption(values.role, '--role'), '--role', roles);
  const password = await obtainPassword(values['password-stdin']);
  const passwordHash = await hashPassword(password.text);
  return runWithDatabase(async database => {
    const now = Date.now();
    const user = { email, name, role, passwordHash, verifiedAt: now };
    const users = createUserStore(database, createCommandOutbox(database));
    const insert = (session: Transaction) => users.insert(session, user, createCause('cli', now));
    const { id } = await database.write(insert).catch(error => {
      if (!(error instanceof StorageError && error.kind === 'unique')) throw error;
      throw new Error(`a user with the e-mail address ${email} already exists`);
    });
    await show(`created user ${id}: ${escapeUnprintable(email)}, ${role}`, email, password);
    return 0;
  });
}

async function list(args: string[]): Promise<number> {
  parse(args, {});
  return runWithDatabase(async database => {
    const users = await createUserStore(database, createCommandOutbox(database)).all(database.read);
    const rows = users.map(user => [
      String(user.id),
      user.email,
      user.role,
      formatDate(user.created_at),
      user.name,
    ]);
    await printRead(formatTable(['ID', 'E-MAIL', 'ROLE', 'CREATED (UTC)', 'NAME'], rows));
    return 0;
  });
}

async function setPassword(args: string[]): Promise<number> {
  const { values, positionals } = parse(args, { 'password-stdin': { type: 'boolean' } }, true);
  const email = requireOnePositional(positionals, 'EMAIL');
  const password = await obtainPassword(values['password-stdin']);
  const passwordHash = await hashPassword(password.text);
  return runWithDatabase(async database => {
    await changeUser(database, email, async (session, user, { users }) => {
      await users.setPassword(session, user, passwordHash, createCause('cli', Date.now()));
      await createSessionStore(database).removeAllOf(session, user.id, Date.now());
      await createMailTokens(database).withdraw(session, user.id, 'password');
      // The former password may be known at the addresses of earlier sign-ins, whose attempts would not be slowed down.
      await createKnownAddresses(database).forget(session, user.id);
    });
    await show(`set the password of ${escapeUnprintable(email)}; all sessions have ended`, email, password);
    return 0;
  });
}

async function setRole(args: string[]): Promise<number> {
  const [email, word, ...extra] = parse(args, {}, true).positionals;
  refuseExtraArguments(extra);
  const address = requireOption(email, 'EMAIL');
  const role = parseChoiceOption(requireOption(word, 'ROLE'), 'ROLE', roles);
  return runWithDatabase(async database => {
    await changeUser(database, address, async (session, user, { users, administrators }) => {
      if (leavesNoAdministrator(user, role, administrators))
        throw new Error(
          `${user.email} is the last administrator and cannot be demoted; promote another user first`,
        );
      if (user.role === role) return;
      const fields = { ...toUser(user), role };
      await users.update(session, user, fields, createCause('cli', Date.now()));
      await createSessionStore(database).removeAllOf(session, user.id, Date.now());
    });
    await printDone(`${escapeUnprintable(address)} now has the role ${role}`);
    return 0;
  });
}

interface ChangeContext {
  readonly users: UserStore;
  readonly administrators: readonly number[];
}
type Change = (session: Transaction, user: StoredUser, context: ChangeContext) => Promise<void>;

/** Changes a user while the administrators are locked. @throws Error when there is no such user */
async function changeUser(database: Database, email: string, change: Change): Promise<void> {
  const users = createUserStore(database, createCommandOutbox(database));
  await database.write(async session => {
    const administrators = await users.lockAdministrators(session);
    const found = await users.findByEmail(session, email);
    const user = found === undefined ? undefined : await users.lock(session, found.id);
    if (user === undefined)
      throw new Error(`there is no user with the e-mail address ${email}; catalog users list lists all`);
    await change(session, user, { users, administrators });
  });
}

interface Password {
  readonly text: string;
  readonly generated: boolean;
}

async function obtainPassword(fromStandardInput: boolean | undefined): Promise<Password> {
  if (fromStandardInput !== true) return { text: randomBytes(15).toString('base64url'), generated: true };
  const line = await readFirstLine(Bun.stdin.stream());
  return { text: parseValue(newPassword, line, 'the password', null), generated: false };
}

/** More bytes than a line with a password has. */
const maxLineLength = 4096;

/**
 * Reads no further than the line: its writer may keep the pipe open.
 * @throws UsageError when it is not UTF-8: decoded anyway, the password would be another than the one that was sent
 */
async function readFirstLine(input: ReadableStream<Uint8Array>): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of input) {
    bytes = Buffer.concat([bytes, chunk]);
    if (chunk.includes(lineEnd) || bytes.length > maxLineLength) break;
  }
  const end = bytes.indexOf(lineEnd);
  try {
    const line = new TextDecoder('utf-8', { fatal: true }).decode(end < 0 ? bytes : bytes.subarray(0, end));
    return line.replace(/\r$/, '');
  } catch {
    throw new UsageError('the password is not a text in UTF-8');
  }
}

const lineEnd = 0x0a;

function show(done: string, email: string, { text: password, generated }: Password): Promise<void> {
  if (!generated) return printDone(done);
  const undo = `set another password with catalog users set-password ${escapeUnprintable(email)}`;
  return printSecret([done, `password, shown this once: ${password}`], undo);
}
