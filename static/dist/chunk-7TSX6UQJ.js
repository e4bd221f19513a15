import{b as r,d as s}from"./chunk-DTRHNQ2A.js";function c(p){return class extends s{shouldComponentUpdate(e){let n=this.props,o=Object.keys(e);return o.length!==Object.keys(n).length||o.some(t=>e[t]!==n[t])}render(){return r(p,this.props)}}}export{c as a};
//# sourceMappingURL=chunk-7TSX6UQJ.js.map
