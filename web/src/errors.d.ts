// By code: cause and cure in Chinese.
declare module "cameo-errors" {
  const table: Record<string, [string, string]>;
  export default table;
}
