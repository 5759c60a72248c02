/**
 * `bun bench/load/probe.ts PORT`: asks for /health every few milliseconds, in a process that does nothing else, so that no
 * work of a load generator is taken for a wait. A line on standard input ends a measurement: it is answered with the
 * waits since the line before, in milliseconds, as one JSON array.
 */
export {};

const url = `http://127.0.0.1:${process.argv[2]}/health`;
const everyMs = 5;
let waits: number[] = [];

async function probe(): Promise<never> {
  for (;;) {
    const started = performance.now();
    await (await fetch(url)).bytes();
    waits.push(performance.now() - started);
    await Bun.sleep(everyMs);
  }
}

void probe();
for await (const _ of console) {
  console.log(JSON.stringify(waits));
  waits = [];
}
process.exit(0);
