/** A fault to plant: `find` is in the file exactly once. */
export type Fault = {
  file: string;
  find: string;
  replace: string;
  /** What goes wrong. */
  fault: string;
  /** The files whose tests have to notice it. */
  tests: readonly string[];
  /**
   * Which of their tests, as a regular expression on the titles; all unless given. For files that take long.
   */
  only?: string;
  /** Set where the tests look at the built pages: they are built anew with the fault. */
  inPages?: true;
};
