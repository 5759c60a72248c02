/**
 * Built-in cities, which need no network: their location, mean temperatures in January and July (°C, approximate), and
 * typical conditions.
 */

export interface KnownCity {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly january: number;
  readonly july: number;
  readonly conditions: string;
}

type Row = readonly [string, number, number, number, number, string];

// biome-ignore format: a table
const rows: readonly Row[] = [
  ['Amsterdam', 52.37, 4.9, 3.6, 18.1, 'rain'],
  ['Athens', 37.98, 23.73, 10.2, 29, 'clear'],
  ['Auckland', -36.85, 174.76, 19.8, 11.1, 'partly cloudy'],
  ['Bangkok', 13.76, 100.5, 27.3, 29.3, 'partly cloudy'],
  ['Barcelona', 41.39, 2.17, 9.6, 24.3, 'clear'],
  ['Beijing', 39.9, 116.41, -2.7, 27.2, 'clear'],
  ['Berlin', 52.52, 13.41, 0.9, 19.4, 'overcast'],
  ['Bogota', 4.71, -74.07, 14.3, 13.9, 'rain'],
  ['Brussels', 50.85, 4.35, 3.7, 18.7, 'rain'],
  ['Bucharest', 44.43, 26.1, -0.9, 24, 'partly cloudy'],
  ['Budapest', 47.5, 19.04, 0.4, 22.6, 'partly cloudy'],
  ['Buenos Aires', -34.6, -58.38, 25, 11, 'partly cloudy'],
  ['Cairo', 30.04, 31.24, 14, 28.5, 'clear'],
  ['Cape Town', -33.92, 18.42, 21.4, 12.6, 'clear'],
  ['Chicago', 41.88, -87.63, -3.7, 24.2, 'partly cloudy'],
  ['Copenhagen', 55.68, 12.57, 1.4, 18.1, 'overcast'],
  ['Dubai', 25.2, 55.27, 19.3, 36, 'clear'],
  ['Dublin', 53.35, -6.26, 5.3, 15.6, 'rain'],
  ['Frankfurt', 50.11, 8.68, 2.1, 20.6, 'overcast'],
  ['Hamburg', 53.55, 9.99, 2.1, 18.4, 'rain'],
  ['Helsinki', 60.17, 24.94, -3.1, 18.1, 'overcast'],
  ['Istanbul', 41.01, 28.98, 6.5, 24.6, 'partly cloudy'],
  ['Jakarta', -6.21, 106.85, 26.9, 27.5, 'rain'],
  ['Johannesburg', -26.2, 28.05, 20.1, 10.4, 'clear'],
  ['Lagos', 6.52, 3.38, 27.7, 25.6, 'partly cloudy'],
  ['Lima', -12.05, -77.04, 22.7, 16.9, 'overcast'],
  ['Lisbon', 38.72, -9.14, 11.6, 23.1, 'clear'],
  ['London', 51.51, -0.13, 5.7, 19, 'overcast'],
  ['Los Angeles', 34.05, -118.24, 14.9, 23.6, 'clear'],
  ['Madrid', 40.42, -3.7, 6.5, 26.1, 'clear'],
  ['Manila', 14.6, 120.98, 26.5, 28.3, 'partly cloudy'],
  ['Melbourne', -37.81, 144.96, 21.1, 10.6, 'partly cloudy'],
  ['Mexico City', 19.43, -99.13, 14.6, 18.2, 'partly cloudy'],
  ['Miami', 25.76, -80.19, 20.4, 29.2, 'partly cloudy'],
  ['Milan', 45.46, 9.19, 3.2, 25.1, 'partly cloudy'],
  ['Montreal', 45.5, -73.57, -8.7, 22.1, 'partly cloudy'],
  ['Moscow', 55.76, 37.62, -6.2, 19.7, 'snow'],
  ['Mumbai', 19.08, 72.88, 24.6, 27.9, 'clear'],
  ['Munich', 48.14, 11.58, 0.3, 19.4, 'partly cloudy'],
  ['Nairobi', -1.29, 36.82, 19.7, 16.8, 'partly cloudy'],
  ['New Delhi', 28.61, 77.21, 13.9, 31.2, 'clear'],
  ['New York', 40.71, -74.01, 0.9, 25.3, 'partly cloudy'],
  ['Oslo', 59.91, 10.75, -3.5, 17.7, 'snow'],
  ['Paris', 48.86, 2.35, 5.4, 21.2, 'overcast'],
  ['Prague', 50.08, 14.44, -0.6, 19.8, 'overcast'],
  ['Reykjavik', 64.15, -21.94, 0.7, 11.6, 'overcast'],
  ['Rio de Janeiro', -22.91, -43.17, 26.9, 21.7, 'partly cloudy'],
  ['Rome', 41.9, 12.5, 7.9, 25.7, 'clear'],
  ['San Francisco', 37.77, -122.42, 11, 15.6, 'fog'],
  ['Santiago', -33.45, -70.67, 21.2, 8.6, 'clear'],
  ['Sao Paulo', -23.55, -46.63, 23.3, 16.8, 'rain'],
  ['Seoul', 37.57, 126.98, -2, 25.3, 'clear'],
  ['Shanghai', 31.23, 121.47, 4.9, 28.9, 'partly cloudy'],
  ['Singapore', 1.35, 103.82, 26.8, 28.2, 'thunderstorm'],
  ['Stockholm', 59.33, 18.07, -1, 18.7, 'overcast'],
  ['Sydney', -33.87, 151.21, 23.4, 12.9, 'clear'],
  ['Tel Aviv', 32.08, 34.78, 13.5, 27.5, 'clear'],
  ['Tokyo', 35.68, 139.69, 5.4, 25.7, 'clear'],
  ['Toronto', 43.65, -79.38, -3.7, 22.5, 'partly cloudy'],
  ['Vancouver', 49.28, -123.12, 4.2, 18.4, 'rain'],
  ['Vienna', 48.21, 16.37, 1.2, 21.3, 'overcast'],
  ['Warsaw', 52.23, 21.01, -1.5, 19.6, 'overcast'],
  ['Zurich', 47.38, 8.54, 0.9, 19.1, 'partly cloudy'],
];

export const knownCities: readonly KnownCity[] = rows.map(
  ([name, latitude, longitude, january, july, conditions]) => ({
    name,
    latitude,
    longitude,
    january,
    july,
    conditions,
  }),
);
