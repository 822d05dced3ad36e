declare module "pg/lib/utils.js" {
  const utils: {
    /** A parameter as the driver sends it. @throws Error for an object that JSON cannot hold */
    prepareValue(value: unknown): string | Buffer | null;
  };
  export default utils;
}
