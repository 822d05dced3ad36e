/** The numbers would not mean what they say: an answer other than 200, an event that did not arrive, no events left. */
export class BrokenMeasurement extends Error {
  override name = "BrokenMeasurement";
}
