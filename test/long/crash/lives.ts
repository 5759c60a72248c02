/** A service with many lives: killed at points that a seed decides, and started again on the same data. */
import type { Random } from '../../../bench/load/random.ts';
import { type Place, type Running, waitFor } from '../../cli/program.ts';

/** The requests of the clients of the crash test. */
const operations = [
  'place',
  'pay',
  'cancel',
  'send',
  'reset',
  'forget',
  'patch',
  'product',
  'invite',
] as const;
export type Operation = (typeof operations)[number];

/** An event that the test sees, at which the service may be killed. */
type Point = `${Operation} ${'sent' | 'answered'}` | 'mail arrived' | 'invitation arrived' | 'mail answered';

/** When a life ends; `delay` and `after` are milliseconds. */
export type End =
  | { readonly kind: 'time'; readonly after: number }
  | { readonly kind: 'point'; readonly point: Point; readonly nth: number; readonly delay: number }
  /** Before the service is ready. */
  | { readonly kind: 'start'; readonly after: number };

interface Life {
  readonly url: string;
  isOver: boolean;
}

export interface Lives {
  /** The running service; waits for the next life when there is none. */
  current(): Promise<Life>;
  /** Reports an event. When the service must die at it without delay, the promise resolves once it is dead. */
  reach(point: Point): Promise<void> | undefined;
  /** Runs one life after the other, each to its end. */
  run(ends: readonly End[]): Promise<void>;
  /** Starts the last life, which is not killed. */
  start(): Promise<Life>;
  /** Stops the service in order, if it runs. @returns its exit status */
  stop(): Promise<number>;
}

/** A life ends after this time, in milliseconds, even when its point is not reached. */
const maxLifeMs = 3000;

export function livesOf(place: Place): Lives {
  let awaited = Promise.withResolvers<Life>();
  let running: { readonly child: Running; readonly life: Life } | undefined;
  let armed: { readonly point: Point; left: number; readonly delay: number } | undefined;

  const spawn = () => place.start(['serve', '--port', '0']);

  async function start(): Promise<Life> {
    const child = spawn();
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    const life = { url, isOver: false };
    running = { child, life };
    awaited.resolve(life);
    return life;
  }

  function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
    if (running === undefined) return Promise.resolve(-1);
    const { child, life } = running;
    if (!life.isOver) {
      life.isOver = true;
      awaited = Promise.withResolvers();
      child.kill(signal);
    }
    return child.exited;
  }
  const kill = () => end('SIGKILL');

  async function live(plan: End): Promise<void> {
    if (plan.kind === 'start') {
      const child = spawn();
      await Bun.sleep(plan.after);
      child.kill('SIGKILL');
      await child.exited;
      return;
    }
    if (plan.kind === 'point') armed = { point: plan.point, left: plan.nth, delay: plan.delay };
    await start();
    const timer = setTimeout(kill, plan.kind === 'time' ? plan.after : maxLifeMs);
    await running?.child.exited;
    clearTimeout(timer);
    armed = undefined;
    if (running?.life.isOver !== true) throw new Error('the service ended by itself');
  }

  return {
    current: () => awaited.promise,
    reach(point) {
      if (armed?.point !== point || --armed.left !== 0) return undefined;
      if (armed.delay === 0) return kill().then(() => undefined);
      setTimeout(kill, armed.delay);
      return undefined;
    },
    async run(ends) {
      for (const end of ends) await live(end);
    },
    start,
    stop: () => end('SIGTERM'),
  };
}

/** This many ends, of every kind in turn, at random points. */
export function endsOf(random: Random, count: number): End[] {
  const time = (): End => ({ kind: 'time', after: random.integer(0, 400) });
  const at = (point: Point, most: number, delay = 0): End => ({
    kind: 'point',
    point,
    nth: random.integer(1, most),
    delay: random.integer(0, delay),
  });
  const kinds: (() => End)[] = [
    time,
    () => at('pay sent', 8, 4),
    () => at(random.pick<Point>(['mail arrived', 'invitation arrived']), 3),
    () => at('place sent', 15, 4),
    () => at('mail answered', 5, 2),
    time,
    () => at(`${random.pick(operations)} answered`, 3),
    () => at(`${random.pick<Operation>(['send', 'reset', 'forget', 'invite'])} sent`, 2, 4),
    () => at(`${random.pick<Operation>(['patch', 'cancel', 'product'])} sent`, 5, 4),
    () => ({ kind: 'start', after: random.integer(10, 200) }),
  ];
  return Array.from({ length: count }, (_, index) => (kinds[index % kinds.length] ?? time)());
}
