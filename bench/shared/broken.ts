/**
 * The numbers would not mean what they say: a wrong answer, an event that did not arrive, no requests left.
 */
export class BrokenMeasurement extends Error {
  override name = "BrokenMeasurement";
}
