/** The dependencies of all endpoints. */

import type { Config } from '../config.ts';
import type { Outbox } from '../events/outbox.ts';
import type { Queue } from '../events/queue.ts';
import type { Paginator } from '../http/paginate.ts';
import type { Delays } from '../http/quota/delays.ts';
import type { Mails } from '../mail/mails.ts';
import type { Media } from '../media/index.ts';
import type { Log } from '../operations/log.ts';
import type { Clock } from '../ports/clock.ts';
import type { Database } from '../storage/database.ts';

export interface Dependencies {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Database;
  readonly paginator: Paginator;
  readonly outbox: Outbox;
  readonly mails: Mails;
  readonly log: Log;
  /** Slows down guessing. */
  readonly delays: Delays;
  /** Work to do after a commit. */
  readonly queue: Queue;
  readonly media: Media;
  /** The port that the service listens on, once it does. */
  port(): number;
}
