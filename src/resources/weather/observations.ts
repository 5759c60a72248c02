/**
 * The best available weather: observed just now, cached, or computed from built-in data. The provider receives one
 * request per city at a time, none while it is failing, and is never waited for longer than its timeout.
 */
import { LRUCache } from 'lru-cache';
import { describeError } from '../../operations/log.ts';
import { createCircuit } from '../../ports/circuit.ts';
import { dayMs, hourMs, isRecent } from '../../ports/clock.ts';
import { type CityLocation, type Observation, openMeteo } from '../../ports/weather.ts';
import { createOnce } from '../../turns/once.ts';
import type { Dependencies } from '../dependencies.ts';
import { type KnownCity, knownCities } from './cities.ts';
import type { Weather } from './schema.ts';

/**
 * Unknown: the provider knows no such city. Unresolved: the city is not built in, and the provider, which knows more,
 * cannot be reached. Unavailable: the city exists, but its weather is not known.
 */
type Found = Weather | 'unknown' | 'unresolved' | 'unavailable';

/** The maximum number of cached observations, of locations, and of unknown names. */
const cached = 2000;
const freshMs = 10 * 60 * 1000;
const absentMs = hourMs;

/** Consecutive failures after which the provider is not called, and for how long. */
const failures = 3;
const pauseMs = 30_000;

interface Cached {
  readonly location: CityLocation;
  readonly observation: Observation;
  readonly since: number;
}

/**
 * The key of a city's name; ignores case, accents, and the kind of spaces, hyphens, dots and apostrophes. Outside the
 * European scripts a mark makes another letter: `バリ` is Bali, `パリ` is Paris.
 */
function toCityKey(city: string): string {
  return city
    .normalize('NFKD')
    .replaceAll(/([\p{sc=Latin}\p{sc=Greek}])\p{Mn}+/gu, '$1')
    .normalize('NFC')
    .replaceAll(/[\s'’.-]+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Observations from the provider in the settings. */
export function createWeather({ config, clock, log }: Dependencies) {
  const circuit = createCircuit({
    clock,
    failures,
    pauseMs,
    onChange(state, reason) {
      if (state === 'closed') log.info('the weather provider is responding again');
      else log.warn('the weather provider is failing; cached observations are served', describeError(reason));
    },
  });
  const provider = openMeteo(config.WEATHER_URL, config.GEOCODING_URL);
  const bundled = new Map(knownCities.map(city => [toCityKey(city.name), city]));
  const observed = new LRUCache<string, Cached>({ max: cached });
  const locations = new LRUCache<string, CityLocation>({ max: cached });
  const absent = new LRUCache<string, { readonly since: number }>({ max: cached });
  const shareRun = createOnce<Found>();

  async function findLocation(city: string, key: string): Promise<CityLocation | undefined> {
    const known = bundled.get(key) ?? locations.get(key);
    if (known !== undefined) return known;
    const since = absent.get(key)?.since;
    if (since !== undefined && isRecent(since, absentMs, clock.now())) return undefined;
    const location = await circuit.run(() => provider.find(city));
    if (location === undefined) absent.set(key, { since: clock.now() });
    else locations.set(key, location);
    return location;
  }

  async function observe(city: string, key: string): Promise<Found> {
    try {
      const location = await findLocation(city, key);
      if (location === undefined) return 'unknown';
      const observation = await circuit.run(() => provider.observe(location));
      observed.set(key, { location, observation, since: clock.now() });
      return toWeather(location, observation, provider.name, false);
    } catch {
      return findWithoutProvider(key);
    }
  }

  /** The circuit has recorded the reason; `stale` or `source` shows that the weather was not observed now. */
  function findWithoutProvider(key: string): Found {
    const last = observed.get(key);
    if (last !== undefined) return toWeather(last.location, last.observation, provider.name, true);
    const city = bundled.get(key);
    if (city !== undefined) return toWeather(city, computeUsual(city, clock.now()), 'bundled', false);
    return locations.has(key) ? 'unavailable' : 'unresolved';
  }

  return {
    of(city: string): Promise<Found> {
      const key = toCityKey(city);
      const last = observed.get(key);
      if (last !== undefined && isRecent(last.since, freshMs, clock.now()))
        return Promise.resolve(toWeather(last.location, last.observation, provider.name, false));
      return shareRun(key, () => observe(city, key));
    },
  };
}

function toWeather(
  location: CityLocation,
  observation: Observation,
  source: string,
  stale: boolean,
): Weather {
  return {
    city: location.name,
    temperature: observation.temperature,
    unit: 'celsius',
    conditions: observation.conditions,
    observedAt: new Date(observation.observedAt).toISOString(),
    source,
    stale,
  };
}

/** The typical weather on this day: a cosine between the means of mid-January and mid-July. */
function computeUsual({ january, july, conditions }: KnownCity, now: number): Observation {
  const day = Math.floor(now / dayMs) * dayMs;
  const fromMidJanuary = (day - Date.UTC(new Date(day).getUTCFullYear(), 0, 15)) / dayMs;
  const swing = Math.cos((2 * Math.PI * fromMidJanuary) / 365.25);
  const temperature = Math.round(((january + july) / 2 + ((january - july) / 2) * swing) * 10) / 10;
  return { temperature, conditions, observedAt: day };
}
