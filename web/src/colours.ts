// Colours of the canvas, for light and dark.
export interface Palette {
  paper: string;
  ink: string;
  soft: string;
  faint: string;
  line: string;
  accent: string;
  hit: string;
  frame: string;
  frameOdd: string;
  frameEdge: string;
  families: Record<string, [string, string]>; // fill, edge
  kinds: Record<string, [string, string]>;
}

const light: Palette = {
  paper: "#fbfcfd", ink: "#1c2430", soft: "#4d5968", faint: "#6b7786", line: "#97a2b1", accent: "#1f6feb", hit: "#c77700",
  frame: "#f1f4f8", frameOdd: "#fafbfc", frameEdge: "#cfd6df",
  families: {
    compute: ["#dbe8fb", "#5b8bd0"], activation: ["#fbe3dc", "#cf7a5e"], normalise: ["#e2f1df", "#6ba35f"],
    pool: ["#ece2f7", "#9272c2"], shape: ["#f1eee4", "#a89a70"], control: ["#fdf0cf", "#c49a2c"],
    quantise: ["#d9f1f1", "#4b9c9c"], arithmetic: ["#e8ebef", "#8b95a3"], other: ["#f4f6f9", "#8b95a3"],
  },
  kinds: {
    module: ["#e9eef6", "#8fa3c0"], repeat: ["#e3eaf5", "#5d7ba8"], body: ["#fdf7e6", "#c49a2c"],
    input: ["#ffffff", "#5a6675"], output: ["#ffffff", "#5a6675"],
  },
};

const dark: Palette = {
  paper: "#14181e", ink: "#e6ebf2", soft: "#aab5c3", faint: "#8b97a6", line: "#566273", accent: "#5aa2ff", hit: "#f0b44c",
  frame: "#1a2028", frameOdd: "#1f2630", frameEdge: "#34404e",
  families: {
    compute: ["#1f3b63", "#5b8bd0"], activation: ["#57301f", "#cf7a5e"], normalise: ["#234a25", "#6ba35f"],
    pool: ["#3b2c58", "#9272c2"], shape: ["#3b3724", "#a89a70"], control: ["#524012", "#c49a2c"],
    quantise: ["#17464a", "#4b9c9c"], arithmetic: ["#2b323c", "#77839a"], other: ["#262d37", "#77839a"],
  },
  kinds: {
    module: ["#243040", "#56708f"], repeat: ["#28384d", "#6f94c4"], body: ["#3a3218", "#c49a2c"],
    input: ["#1c222b", "#8b97a6"], output: ["#1c222b", "#8b97a6"],
  },
};

export function palette(isDark: boolean): Palette {
  return isDark ? dark : light;
}

// From pale to strong, for shares of time.
export function heat(share: number): string {
  const s = Math.min(1, Math.max(0, share));
  return `hsl(${52 - 44 * s} 92% ${86 - 30 * s}%)`;
}

export const difference = {changed: "#f2c14e", removed: "#ef8a80", added: "#8fd694"};
